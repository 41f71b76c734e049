import { generateOpenApi } from '../openapi.ts';
import type { Page } from '../operation.ts';

let document: string | undefined;

export const openapiJsonPage: Page = {
  path: '/openapi.json',
  async handle() {
    document ??= JSON.stringify(await generateOpenApi());
    return {
      headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'public, max-age=300' },
      body: document,
    };
  },
};
