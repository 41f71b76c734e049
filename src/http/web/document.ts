import { createHash } from 'node:crypto';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { Html, html } from '../../shared/text/html.ts';
import type { PageResponse } from '../operation.ts';
import { packages, type WebFiles, webFiles } from './files.ts';

interface Described {
  readonly title: string;
  /** The first module. */
  readonly main: string;
  /** A module that most visits ask for next. */
  readonly next?: string;
  readonly styles: readonly string[];
  /** More elements of the head. */
  readonly head?: Html;
  /** Whether the browser takes gzip. */
  readonly isZipped: boolean;
  /** Policies of Trusted Types that the modules make. Default: none. */
  readonly trustedTypes?: string;
}

const client = 'client/src/index.ts';

/**
 * The one document of a browser application. All else is modules and style sheets, which browsers keep forever under their version. The map
 * of imports is data of this process alone, without a character that ends a script.
 */
export async function applicationDocument(described: Described): Promise<PageResponse> {
  const { title, main, next, styles, head, isZipped, trustedTypes = "'none'" } = described;
  const { version, files } = await webFiles();
  const address = (name: string) => `/web/${version}/${name}`;
  const imports = Object.fromEntries([
    ...[...packages].map(([specifier, name]) => [specifier, address(name)]),
    ['@sharedraft/client', address(client)],
  ]);
  const map = JSON.stringify({ imports });
  const preloads = modulesOf(files, next === undefined ? [main] : [main, next]).map(
    (name) => html`<link rel="modulepreload" href="${address(name)}">\n`,
  );
  const sheets = styles.map((name) => html`<link rel="stylesheet" href="${address(name)}">\n`);
  const document = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
${head}
${sheets}<script type="importmap">${new Html(map)}</script>
${preloads}<script type="module" src="${address(main)}"></script>
</head>
<body>
<div id="root"></div>
<noscript>This page needs JavaScript.</noscript>
</body>
</html>
`;
  return {
    headers: {
      ...(isZipped && { 'content-encoding': 'gzip' }),
      vary: 'Accept-Encoding',
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy(map, trustedTypes),
      // The document names the version of everything else.
      'cache-control': 'no-cache',
    },
    body: isZipped ? await promisify(gzip)(document.text) : document.text,
  };
}

/** These modules and all that they import, so that the browser fetches them side by side. */
function modulesOf(files: WebFiles['files'], first: readonly string[]): string[] {
  const found = new Set(first);
  // A set takes new members while it is walked.
  for (const name of found)
    for (const specifier of files.get(name)?.imports ?? []) {
      const isPath = specifier.startsWith('.');
      const imported = isPath
        ? path.posix.join(path.posix.dirname(name), specifier)
        : packages.get(specifier);
      found.add(imported ?? client);
    }
  return [...found].filter((name) => files.get(name)?.body.length !== 0);
}

/**
 * Only files of this origin run or load, and the map of imports by its hash. `require-trusted-types-for` makes each assignment of text
 * as HTML or script an error (Trusted Types, W3C).
 */
function policy(map: string, trustedTypes: string): string {
  const hash = createHash('sha256').update(map).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "manifest-src 'self'",
    "worker-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    `trusted-types ${trustedTypes}`,
  ].join('; ');
}
