import type { Page } from '../operation.ts';
import { webFiles } from '../web/files.ts';

export const scriptUrl = '/auth/v2/passkeys.js';

/** The one module of the sign-in pages. They work without it, except for passkeys. */
export const scriptPage: Page = {
  path: scriptUrl,
  handle: async () => {
    const { files } = await webFiles();
    return {
      headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-cache' },
      body: Buffer.from(files.get('web/sign-in/passkeys.ts')?.body ?? []).toString(),
    };
  },
};
