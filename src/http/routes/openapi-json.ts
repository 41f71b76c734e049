import { generateOpenApi } from '../openapi.ts';
import type { Page } from '../operation.ts';

/** Bytes, which all who are being answered share: of a text each would hold a copy until they have read it. */
let document: Uint8Array | undefined;

export const openapiJsonPage: Page = {
  path: '/openapi.json',
  async handle() {
    document ??= Buffer.from(JSON.stringify(await generateOpenApi()));
    return {
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
      body: document,
    };
  },
};
