import { request } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { TestCertificate } from './certificates.ts';

/**
 * A proxy that ends TLS and asks for a certificate of any issuer, as ops/haproxy/mtls.cfg does: it replaces the header `Client-Cert` by the
 * certificate of the connection (RFC 9440 section 2).
 */
export async function startTlsProxy(target: string): Promise<{ readonly url: string; close(): void }> {
  const options = { ...new TestCertificate().tls, requestCert: true, rejectUnauthorized: false };
  const server = createServer(options, (incoming, response) => {
    const headers = { ...incoming.headers };
    delete headers['client-cert'];
    const { raw } = (incoming.socket as TLSSocket).getPeerCertificate();
    if (raw !== undefined) headers['client-cert'] = `:${raw.toString('base64')}:`;
    const { method } = incoming;
    const outgoing = request(`${target}${incoming.url}`, { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    outgoing.on('error', () => response.destroy());
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  return { url: `https://localhost:${port}`, close };
}
