import { createHash } from 'node:crypto';
import type { Page } from '../operation.ts';

const css = `
:root {
  color-scheme: light dark;
  --ink: #17202b; --soft: #55606e; --page: #eef1f4; --card: #fff; --line: #c9d0d8;
  --accent: #0b5d4a; --on-accent: #fff; --error: #a3211b; --error-page: #fdecea;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #eceff3; --soft: #a7b1bd; --page: #0e1318; --card: #182028; --line: #3a4652;
    --accent: #6fd8b8; --on-accent: #06251d; --error: #ffb4ab; --error-page: #3b1512;
  }
}
/* A logo is made for white. */
@media (prefers-color-scheme: dark) { .brand img { padding: 0.5rem; background: #fff; border-radius: 0.5rem; } }
* { box-sizing: border-box; }
body {
  margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1.25rem;
  background: var(--page); color: var(--ink); font: 1rem/1.5 ui-sans-serif, system-ui, sans-serif;
  text-wrap: pretty;
}
main { width: 100%; max-width: 26rem; padding: 2.25rem; background: var(--card); border-radius: 1rem; box-shadow: 0 1px 2px #0002, 0 12px 32px #0001; }
.brand { margin: 0 0 1.75rem; font-weight: 650; color: var(--accent); }
.brand img { display: block; max-width: 100%; max-height: 4rem; }
h2 { margin: 1.5rem 0 0; font-size: 1.1rem; }
h1 { margin: 0; font-size: 1.6rem; line-height: 1.25; letter-spacing: -0.01em; }
p { margin: 0.5rem 0 0; }
.lead { color: var(--soft); margin-bottom: 1.5rem; text-wrap: balance; }
label, legend { display: block; margin: 1.1rem 0 0.35rem; padding: 0; font-weight: 600; }
[hidden] { display: none; }
input:not([type=radio], [type=checkbox]) {
  width: 100%; padding: 0.7rem 0.8rem; font: inherit; color: inherit; background: transparent;
  border: 1px solid var(--line); border-radius: 0.6rem;
}
fieldset { border: 0; margin: 0; padding: 0; }
.choice { display: inline-flex; gap: 0.4rem; align-items: center; margin: 0 1.25rem 0 0; padding: 0.4rem 0; font-weight: 400; }
.inside { padding-left: 1.5rem; }
.inside .choice { display: flex; }
.account { margin: 0.35rem 0 0.6rem; }
.account legend { margin: 0; font-weight: 400; }
.account .choice { display: inline-flex; }
.choice input { flex: none; accent-color: var(--accent); inline-size: 1.1rem; block-size: 1.1rem; }
button {
  width: 100%; min-height: 2.9rem; margin-top: 1.5rem; padding: 0.7rem 1rem; font: inherit; font-weight: 650; cursor: pointer;
  color: var(--on-accent); background: var(--accent); border: 1px solid var(--accent); border-radius: 0.6rem;
}
/* The lead has its own space below it. */
.lead:last-child { margin-bottom: 0; }
.lead + form > :is(button:first-child, [type=hidden] + button) { margin-top: 0; }
button.quiet { margin-top: 0.6rem; color: var(--accent); background: transparent; }
:is(button, input, summary, a):focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
ul { margin: 0.35rem 0 0; padding-left: 1.2rem; }
li { padding: 0.15rem 0; }
.alert { margin: 0 0 0.5rem; padding: 0.75rem 0.9rem; color: var(--error); background: var(--error-page); border-radius: 0.6rem; }
.reason { margin: 0 0 0.5rem; padding: 0.75rem 0.9rem; background: var(--page); border-radius: 0.6rem; }
.rows { list-style: none; padding: 0; }
.rows li { padding: 0.6rem 0; border-bottom: 1px solid var(--line); }
.rows :is(p, form) { margin: 0; }
.rows form { display: flex; gap: 1rem; align-items: center; justify-content: space-between; }
.rows details form { display: block; }
.parts { list-style: none; padding: 0; }
.parts li { display: flex; flex-wrap: wrap; gap: 0.6rem; align-items: center; }
.parts span { flex: 1 1 12rem; }
.rows button { width: auto; flex: none; margin: 0; min-height: 2.75rem; }
.done { margin: 0 0 0.5rem; padding: 0.75rem 0.9rem; border: 1px solid var(--accent); border-radius: 0.6rem; }
a { color: var(--accent); }
p.leave { margin-top: 1.25rem; }
.note { color: var(--soft); font-size: 0.9rem; margin-top: 1.25rem; }
label + .note { margin: 0 0 0.35rem; }
.qr { display: block; width: 100%; max-width: 15rem; margin: 1rem auto; border-radius: 0.6rem; }
code { font: 0.95rem/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }
.codes { padding-left: 2.1rem; }
details { margin-top: 1.25rem; }
summary { min-height: 2.75rem; padding: 0.6rem 0; color: var(--accent); font-weight: 600; cursor: pointer; }
.aside p { margin-top: 0.5rem; color: var(--soft); }
button.link {
  width: auto; min-height: 2.75rem; margin: 0; padding: 0; color: var(--accent); background: none; border: 0;
  font-weight: 600; text-decoration: underline;
}
`;

const version = createHash('sha256').update(css).digest('base64url').slice(0, 12);

export const styleUrl = `/auth/v2/pages.css?${version}`;

/** The style sheet of the sign-in pages: their policy allows no inline style. */
export const stylePage: Page = {
  path: '/auth/v2/pages.css',
  handle: async () => ({
    headers: {
      'content-type': 'text/css; charset=utf-8',
      'cache-control': 'public, max-age=31536000, immutable',
    },
    body: css,
  }),
};
