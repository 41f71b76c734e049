import { createHash } from 'node:crypto';
import { escapeHtml } from '../../shared/text/html.ts';
import type { PageResponse } from '../operation.ts';

const style = `
:root { color-scheme: light dark; --ink: #1d2530; --faint: #5d6978; --paper: #fbfaf7; --line: #dedad2; --accent: #0b6b53; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6e3dc; --faint: #9aa3ad; --paper: #14181d; --line: #2c333c; --accent: #63d2ae; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 17px/1.6 ui-serif, Georgia, serif; }
header, main { max-width: 44rem; margin: 0 auto; padding: 0 1.5rem; }
header { padding-top: 2rem; font: 600 0.85rem/1 ui-sans-serif, system-ui, sans-serif; display: flex; gap: 1.25rem; }
header a { color: var(--faint); text-decoration: none; }
header a:first-child { color: var(--accent); letter-spacing: 0.02em; margin-right: auto; }
main { padding-bottom: 5rem; }
h1 { font-size: 2.1rem; line-height: 1.2; margin: 3rem 0 0.5rem; }
h2 { font-size: 1.2rem; margin: 2.2rem 0 0.4rem; }
a { color: var(--accent); text-underline-offset: 0.15em; }
a:focus-visible { outline: 2px solid var(--accent); outline-offset: 3px; }
code, pre { font: 0.85em/1.55 ui-monospace, Menlo, Consolas, monospace; }
pre { overflow-x: auto; padding: 1rem 1.2rem; border: 1px solid var(--line); border-radius: 8px; }
table { border-collapse: collapse; width: 100%; font-size: 0.95em; }
th { text-align: left; font: 600 0.78rem/1 ui-sans-serif, system-ui, sans-serif; color: var(--faint); }
th, td { padding: 0.5rem 0.8rem 0.5rem 0; border-bottom: 1px solid var(--line); }
`;

const styleHash = createHash('sha256').update(style).digest('base64');

/** A page of text without scripts or third-party content. `body` is HTML, `title` is text. */
export function htmlPage(title: string, body: string): PageResponse {
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; img-src 'self'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
      'cache-control': 'public, max-age=300',
    },
    body: `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escapeHtml(title)}</title>
<link rel="icon" href="/favicon.svg" type="image/svg+xml">
<style>${style}</style>
</head>
<body>
<header><a href="/">Sharedraft</a><a href="/docs">API reference</a><a href="/problems">Problems</a></header>
<main>
${body}
</main>
</body>
</html>
`,
  };
}
