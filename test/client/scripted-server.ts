import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A request as it came over the wire. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

type Step = (response: ServerResponse, request: Received) => void;

export interface ScriptedServer extends AsyncDisposable {
  readonly baseUrl: string;
  readonly received: Received[];
}

/** A server that responds to the n-th request by the n-th step, and to later ones by the last. */
export async function startScriptedServer(...steps: Step[]): Promise<ScriptedServer> {
  const received: Received[] = [];
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = incoming;
    const request = { method, url, headers, body: Buffer.concat(chunks).toString() };
    received.push(request);
    const step = steps[Math.min(received.length, steps.length) - 1];
    step?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    received,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

export function json(status: number, body: object, headers: Record<string, string> = {}): Step {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
  };
}

export function problem(
  status: number,
  code: string,
  more: object = {},
  headers: Record<string, string> = {},
): Step {
  const type = { 'content-type': 'application/problem+json', ...headers };
  return json(
    status,
    { type: `/problems/${code}`, title: code, status, detail: 'Detail.', code, ...more },
    type,
  );
}

/** Breaks the connection without a response. */
export const hangUp: Step = (response) => response.destroy();

/** Never responds. */
export const silence: Step = () => {};
