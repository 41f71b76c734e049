import type { Page } from './operation.ts';
import { docsPage, docsScript } from './routes/docs.ts';
import { faviconPage } from './routes/favicon.ts';
import { docsOpenapiJsonPage, openapiJsonPage } from './routes/openapi-json.ts';
import { problemPage, problemsPage } from './routes/problem-page.ts';
import { rootPage } from './routes/root.ts';

/** What is there to look at beside the operations. */
export const pages: readonly Page[] = [
  rootPage,
  faviconPage,
  docsPage,
  docsScript,
  docsOpenapiJsonPage,
  openapiJsonPage,
  problemsPage,
  problemPage,
];
