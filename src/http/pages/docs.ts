import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { fastify } from 'fastify';
import type { Page } from '../operation.ts';
import { acceptsGzip } from '../request/accept.ts';

interface Reference {
  readonly html: string;
  readonly contentSecurityPolicy: string;
  readonly script: Uint8Array;
  readonly gzippedScript: Uint8Array;
}

const scriptPath = '/docs/scalar.js';

/** Serves everything itself: no fonts, scripts, proxies or counters of third parties. */
const configuration = {
  url: '/docs/openapi.json',
  cdn: scriptPath,
  pageTitle: 'Sharedraft API reference',
  favicon: '/favicon.svg',
  authentication: { preferredSecurityScheme: 'oauth2' },
  theme: 'default',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'direct',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // Scalar sends its token with every call, also to operations that take none. Where clients authenticate themselves, the
  // token would be a second method and be refused (RFC 6749, section 2.3), so this drops it. Runs in the browser: its source
  // becomes part of the page.
  onBeforeRequest: ({ requestBuilder }: { readonly requestBuilder: PageRequest }) => {
    if (/^\/auth\/v2\/(token|par|revoke|introspect|jwks)$/.test(requestBuilder.path.raw)) {
      requestBuilder.security = [];
    }
  },
} as const;

/** The parts of Scalar's plugin that are used. */
interface PageRequest {
  readonly path: { readonly raw: string };
  security: readonly unknown[];
}

export const docsPage: Page = {
  path: '/docs',
  async handle() {
    const { html, contentSecurityPolicy } = await reference();
    return {
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': contentSecurityPolicy,
        'cache-control': 'public, max-age=300',
      },
      body: html,
    };
  },
};

export const docsScript: Page = {
  path: scriptPath,
  async handle({ header }) {
    const { script, gzippedScript } = await reference();
    const zipped = acceptsGzip(header('accept-encoding'));
    return {
      headers: {
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=86400',
        vary: 'Accept-Encoding',
        ...(zipped && { 'content-encoding': 'gzip' }),
      },
      body: zipped ? gzippedScript : script,
    };
  },
};

let loading: Promise<Reference> | undefined;

function reference(): Promise<Reference> {
  loading ??= load();
  return loading;
}

/**
 * Loads Scalar's page and script once, at the first request for them: loading takes half a second and 30 MB. The policy
 * allows its inline script by hash; its styles are created at run time.
 */
async function load(): Promise<Reference> {
  const { default: plugin } = await import('@scalar/fastify-api-reference');
  const app = fastify();
  await app.register(plugin, { routePrefix: '/docs', configuration });
  const [page, script] = await Promise.all([app.inject('/docs/'), app.inject('/docs/js/scalar.js')]);
  await app.close();
  const inline = /<script type="text\/javascript">(.*?)<\/script>/s.exec(page.body)?.[1];
  if (inline === undefined) throw new Error('the reference page is not as expected');
  const hash = createHash('sha256').update(inline).digest('base64');
  return {
    html: page.body,
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src 'self' 'sha256-${hash}'`,
      "style-src 'self' 'unsafe-inline'",
      "img-src 'self' data: blob:",
      "font-src 'self' data:",
      "connect-src 'self'",
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
    script: script.rawPayload,
    gzippedScript: await promisify(gzip)(script.rawPayload),
  };
}
