import { request } from 'node:http';
import { request as tlsRequest } from 'node:https';
import { buffer } from 'node:stream/consumers';

/**
 * `fetch`, which follows no redirect and sends the Host header that it is given: the global one sends that of the URL always. `connection` has
 * the local address, or the certificate of a client whose server is not verified.
 */
export function fetchAtHost(
  url: string | URL,
  init: RequestInit = {},
  connection: { readonly localAddress?: string; readonly cert?: string; readonly key?: string } = {},
): Promise<Response> {
  const headers = new Headers(init.headers);
  // The type and the bytes of forms, as for the global one.
  const sent = new Request('http://any.example', { method: init.method ?? 'GET', body: init.body ?? null });
  const type = sent.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return new Promise((resolve, reject) => {
    const send = new URL(url).protocol === 'https:' ? tlsRequest : request;
    const outgoing = send(
      url,
      {
        method: sent.method,
        headers: Object.fromEntries(headers),
        ...connection,
        rejectUnauthorized: false,
      },
      (incoming) => {
        const { statusCode: status = 0, headersDistinct } = incoming;
        const received = new Headers(
          Object.entries(headersDistinct).flatMap(([name, values = []]) =>
            values.map((value): [string, string] => [name, value]),
          ),
        );
        buffer(incoming).then(
          (body) =>
            resolve(
              new Response(status === 204 || status === 304 ? null : new Uint8Array(body), {
                status,
                headers: received,
              }),
            ),
          reject,
        );
      },
    );
    outgoing.on('error', reject);
    sent.arrayBuffer().then((body) => outgoing.end(Buffer.from(body)), reject);
  });
}
