import { request } from 'node:http';
import { buffer } from 'node:stream/consumers';

/** `fetch`, which follows no redirect and sends the Host header that it is given: the global one sends that of the URL always. */
export function fetchAtHost(url: string | URL, init: RequestInit = {}): Promise<Response> {
  const headers = new Headers(init.headers);
  // The type and the bytes of forms, as for the global one.
  const sent = new Request('http://any.example', { method: init.method ?? 'GET', body: init.body ?? null });
  const type = sent.headers.get('content-type');
  if (type !== null && !headers.has('content-type')) headers.set('content-type', type);
  return new Promise((resolve, reject) => {
    const outgoing = request(
      url,
      { method: sent.method, headers: Object.fromEntries(headers) },
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
