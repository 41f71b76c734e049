import { generateOpenApi } from '../../openapi/openapi.ts';
import type { Page } from '../../operation.ts';

/** For programs. Its server is PUBLIC_URL, so that a generated client needs no base URL. */
export const openapiJsonPage = pageAt('/openapi.json', (publicUrl) => publicUrl);

/** For the reference page, which may only call its own address. */
export const docsOpenapiJsonPage = pageAt('/docs/openapi.json', () => '');

function pageAt(path: string, serverOf: (publicUrl: string) => string): Page {
  // All responses share these bytes. A response made of a string would hold a copy until its caller has read it.
  const documents = new Map<string, Promise<Uint8Array>>();
  return {
    path,
    async handle({ publicUrl }) {
      const server = serverOf(publicUrl);
      const known = documents.get(server);
      const document = known ?? generateOpenApi(server).then((made) => Buffer.from(JSON.stringify(made)));
      if (known === undefined) documents.set(server, document);
      return {
        headers: {
          'content-type': 'application/json; charset=utf-8',
          'cache-control': 'public, max-age=300',
        },
        body: await document,
      };
    },
  };
}
