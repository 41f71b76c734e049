import { isClientId, relyingPartyOf } from '../../auth/index.ts';
import { html } from '../../shared/text/html.ts';
import type { Page, PageResponse } from '../operation.ts';
import { pathNotFound } from '../problems.ts';
import { acceptsGzip } from '../request/accept.ts';
import { applicationDocument } from './document.ts';
import { webFiles } from './files.ts';

/** Modules and style sheets. A name is looked up in a table: no part of a request reaches the file system. */
const filePage: Page = {
  path: '/web/*',
  async handle({ params, header }) {
    const { version, files } = await webFiles();
    const [named = '', name = ''] = (params['*'] ?? '').split(/\/(.*)/s);
    const file = named === version ? files.get(name) : undefined;
    if (file === undefined) throw pathNotFound();
    const isZipped = acceptsGzip(header('accept-encoding'));
    return {
      headers: {
        'content-type': file.contentType,
        'cache-control': 'public, max-age=31536000, immutable',
        vary: 'Accept-Encoding',
        ...(isZipped && { 'content-encoding': 'gzip' }),
      },
      body: isZipped ? file.gzipped : file.body,
    };
  },
};

/** The components of the applications, each in its states. For those who develop: a service of members is reached by https, and has no such page. */
const designPage: Page = {
  path: '/web/design',
  handle: ({ publicUrl, header }) => {
    if (publicUrl.startsWith('https:')) throw pathNotFound();
    return applicationDocument({
      isZipped: acceptsGzip(header('accept-encoding')),
      title: 'Components · Sharedraft',
      main: 'web/showcase/main.ts',
      styles: [...designStyles, 'web/showcase/showcase.css'],
    });
  },
};

const designStyles = ['web/design/tokens.css', 'web/design/base.css', 'web/design/components.css'];

/** The member's app of one client of the institution, to which it signs members in. */
const appPage: Page = {
  path: '/app/{clientId}',
  handle: ({ params, publicUrl, header }) => {
    const clientId = clientIdOf(params);
    return applicationDocument({
      isZipped: acceptsGzip(header('accept-encoding')),
      title: 'Sharedraft',
      main: 'web/app/main.ts',
      styles: [...designStyles, 'web/app/app.css'],
      trustedTypes: 'worker',
      head: html`<meta name="issuer" content="${publicUrl}">
<meta name="origin" content="${relyingPartyOf(publicUrl).origin}">
<meta name="theme-color" content="#f4f6f4" media="(prefers-color-scheme: light)">
<meta name="theme-color" content="#0e1412" media="(prefers-color-scheme: dark)">
<link rel="manifest" href="/app/${clientId}/manifest.webmanifest">`,
    });
  },
};

/** The console of the people who run an institution. Its requests carry the session of the sign-in page of operators. */
const consolePage: Page = {
  path: '/console',
  handle: ({ header }) =>
    applicationDocument({
      isZipped: acceptsGzip(header('accept-encoding')),
      title: 'Console · Sharedraft',
      main: 'web/console/main.ts',
      next: 'web/console/screens/today.ts',
      styles: [...designStyles, 'web/console/console.css'],
    }),
};

/** The address without a client leads to that of the setting. */
const defaultAppPage: Page = {
  path: '/app',
  handle: async ({ appClientId }): Promise<PageResponse> => ({
    status: 302,
    headers: { 'content-type': 'text/plain; charset=utf-8', location: `/app/${appClientId}` },
    body: '',
  }),
};

/** The facts by which a phone installs the app (Web Application Manifest, W3C). */
const manifestPage: Page = {
  path: '/app/{clientId}/manifest.webmanifest',
  handle: async ({ params }) => {
    const address = `/app/${clientIdOf(params)}`;
    return {
      headers: { 'content-type': 'application/manifest+json; charset=utf-8', 'cache-control': 'no-cache' },
      body: JSON.stringify({
        name: 'Sharedraft',
        short_name: 'Sharedraft',
        id: address,
        start_url: address,
        scope: address,
        display: 'standalone',
        background_color: '#f4f6f4',
        theme_color: '#f4f6f4',
        icons: [{ src: '/favicon.svg', sizes: 'any', type: 'image/svg+xml' }],
      }),
    };
  },
};

/** The version is part of the text, so that browsers notice a new one. */
const workerPage: Page = {
  path: '/app/worker.js',
  handle: async () => {
    const { version, files } = await webFiles();
    const worker = files.get('web/worker.ts');
    return {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'no-cache',
        'content-security-policy':
          "default-src 'none'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'",
        'service-worker-allowed': '/app/',
      },
      body: `const version = '${version}';\n${Buffer.from(worker?.body ?? []).toString()}`,
    };
  },
};

export const webPages: readonly Page[] = [
  filePage,
  designPage,
  consolePage,
  defaultAppPage,
  workerPage,
  appPage,
  manifestPage,
];

/** Throws Problem `path_not_found` for a text that is no client's id, so that the document holds none of it. */
function clientIdOf({ clientId = '' }: Readonly<Record<string, string>>): string {
  if (!isClientId(clientId)) throw pathNotFound();
  return clientId;
}
