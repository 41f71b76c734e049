import type { Page } from '../operation.ts';

/** A draft with its line to sign on. */
const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect x="2" y="6" width="28" height="20" rx="4" fill="#0b6b53"/>
<path d="M7 13h9M7 20h6M17 20c2-5 3-5 3-2s2 2 5 0" fill="none" stroke="#fff" stroke-width="2" stroke-linecap="round"/>
</svg>`;

export const faviconPage: Page = {
  path: '/favicon.svg',
  handle: async () => ({
    headers: { 'content-type': 'image/svg+xml', 'cache-control': 'public, max-age=86400' },
    body: icon,
  }),
};
