import type { Page } from '../operation.ts';
import { operationsOpenApiPage } from '../operators/openapi.ts';
import { docsOpenapiJsonPage, openapiJsonPage } from '../routes/service/openapi-json.ts';
import { brandStylePage, logoPage } from '../sign-in/brand.ts';
import { scriptPage } from '../sign-in/script.ts';
import { stylePage } from '../sign-in/style.ts';
import { webPages } from '../web/pages.ts';
import { docsPage, docsScript } from './docs.ts';
import { faviconPage } from './favicon.ts';
import { problemPage, problemsPage } from './problem-page.ts';
import { rootPage } from './root.ts';

/** Every page beside the operations. */
export const pages: readonly Page[] = [
  rootPage,
  stylePage,
  brandStylePage,
  logoPage,
  scriptPage,
  faviconPage,
  docsPage,
  docsScript,
  docsOpenapiJsonPage,
  openapiJsonPage,
  operationsOpenApiPage,
  problemsPage,
  problemPage,
  ...webPages,
];
