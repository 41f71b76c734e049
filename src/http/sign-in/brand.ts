import { type Brand, colorInTheDark, consoleTones } from '../../institutions/index.ts';
import { type Html, html } from '../../shared/text/html.ts';
import type { Page } from '../operation.ts';
import { pathNotFound } from '../problems.ts';

/* The addresses have the hash and the color in them, so browsers keep the responses for ever. */
const forever = { 'cache-control': 'public, max-age=31536000, immutable' };

/** The head of a page: the logo of the institution, or its name. */
export function brandMark({ name, logoHash, clientId }: Brand): Html {
  if (logoHash === null) return html`<p class="brand">${name}</p>`;
  // Any cell finds that of the institution by the client.
  const client = clientId === undefined ? '' : `?${new URLSearchParams({ client_id: clientId })}`;
  const url = `${logoUrl(logoHash)}${client}`;
  return html`<p class="brand"><img src="${url}" alt="${name}"></p>`;
}

export function logoUrl(hash: string): string {
  return `/auth/v2/logos/${hash}.png`;
}

export function brandStyleUrl(color: string): string {
  return `/auth/v2/brands/${color.slice(1)}.css`;
}

export function consoleStyleUrl(color: string): string {
  return `/auth/v2/brands/${color.slice(1)}-console.css`;
}

/** The logo of an institution. It is public, as its pages are. */
export const logoPage: Page = {
  path: '/auth/v2/logos/*',
  async handle({ params, findLogo }) {
    const [, hash] = /^([0-9a-f]{64})\.png$/.exec(params['*'] ?? '') ?? [];
    const logo = hash && (await findLogo(hash));
    if (!logo) throw pathNotFound();
    return { headers: { 'content-type': 'image/png', ...forever }, body: logo };
  },
};

/** A style sheet with the color of an institution: the policy of the pages allows no inline style. */
export const brandStylePage: Page = {
  path: '/auth/v2/brands/*',
  async handle({ params }) {
    const [, digits, console] = /^([0-9a-f]{6})(-console)?\.css$/.exec(params['*'] ?? '') ?? [];
    if (digits === undefined) throw pathNotFound();
    return {
      headers: { 'content-type': 'text/css; charset=utf-8', ...forever },
      body: console === undefined ? pagesStyle(`#${digits}`) : consoleStyle(`#${digits}`),
    };
  },
};

function pagesStyle(color: string): string {
  return `:root { --accent: ${color}; --on-accent: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --accent: ${colorInTheDark(color)}; --on-accent: var(--page); }
}
`;
}

/** The console has a choice of light and dark of its own. */
function consoleStyle(color: string): string {
  const [light, dark] = [consoleTones(color, 'light'), consoleTones(color, 'dark')];
  return `:root {
  --accent: light-dark(${light.accent}, ${dark.accent});
  --accent-strong: color-mix(in srgb, var(--accent) 80%, var(--ink));
  --accent-soft: light-dark(${light.soft}, ${dark.soft});
  --on-accent: light-dark(#fff, var(--page));
}
`;
}
