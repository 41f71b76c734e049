import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openMetricsText, openMetricsType } from './open-metrics.ts';
import type { Family } from './registry.ts';

export interface MetricsListener {
  /** For example http://127.0.0.1:9464 */
  readonly address: string;
  close(): Promise<void>;
}

/**
 * Serves `/metrics` on a port of its own, which the proxy in front does not forward. `read` must resolve within seconds,
 * also if the database is silent.
 */
export async function listenForScrapes(
  { host, port }: { readonly host: string; readonly port: number },
  read: () => Promise<readonly Family[]>,
): Promise<MetricsListener> {
  const server = createServer({ requestTimeout: 5_000, headersTimeout: 5_000 }, (request, response) => {
    if (request.url?.split('?', 1)[0] !== '/metrics') {
      response.writeHead(404, { 'content-type': 'text/plain' }).end('The metrics are at /metrics.\n');
      return;
    }
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.writeHead(405, { allow: 'GET, HEAD' }).end();
      return;
    }
    read().then(
      (families) => {
        response.writeHead(200, { 'content-type': openMetricsType, 'cache-control': 'no-store' });
        response.end(openMetricsText(families));
      },
      () => response.writeHead(500).end(),
    );
  });
  server.maxConnections = 32;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
  const { port: taken } = server.address() as AddressInfo;
  return {
    address: `http://${host.includes(':') ? `[${host}]` : host}:${taken}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
