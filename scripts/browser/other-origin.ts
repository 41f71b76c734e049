import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface OtherOrigin extends AsyncDisposable {
  readonly url: string;
}

/** A page at another port of this machine: another origin of the same site, so that cookies with SameSite=Lax or Strict are sent along. */
export async function otherOrigin(body: string): Promise<OtherOrigin> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html').end(`<!doctype html><title>Elsewhere</title>${body}`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, [Symbol.asyncDispose]: end };
}
