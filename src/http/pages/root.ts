import type { Page } from '../operation.ts';
import { htmlPage } from './html.ts';

const body = `<h1>Sharedraft</h1>
<p>Digital banking for the members of a financial institution: access tokens, registration, profiles, accounts,
transfers.</p>
<ul>
<li><a href="/app">Member’s app</a>: accounts, transfers and alerts in a browser or on a phone</li>
<li><a href="/console">Console</a>: for the people who run an institution</li>
<li><a href="/docs">API reference</a>: read about every operation, and try it</li>
<li><a href="/openapi.json">openapi.json</a>: the same for programs (OpenAPI 3.1)</li>
<li><a href="/problems">Problems</a>: the meaning of each error code, and the next step</li>
</ul>`;

export const rootPage: Page = {
  path: '/',
  handle: async () => htmlPage('Sharedraft', body),
};
