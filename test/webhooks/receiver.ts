import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

interface ReceivedWebhook {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  readonly event: {
    readonly eventId: string;
    readonly sequence: number;
    readonly eventType: string;
    readonly transferId?: string;
    readonly accounts: readonly { readonly accountId: string; readonly sequence: number }[];
  };
}

export interface Receiver extends AsyncDisposable {
  readonly url: string;
  readonly received: ReceivedWebhook[];
  /** The webhooks that got a status from 200 to 299. */
  readonly accepted: ReceivedWebhook[];
  /** Decides the status of each request. 0 breaks the connection. */
  respond: (webhook: ReceivedWebhook) => number | Promise<number>;
}

export async function startReceiver(): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const webhook = { headers: request.headers, body, event: JSON.parse(body) };
    receiver.received.push(webhook);
    const status = await receiver.respond(webhook);
    if (status >= 200 && status < 300) receiver.accepted.push(webhook);
    if (status === 0) response.destroy();
    else response.writeHead(status).end('received');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    accepted: [],
    respond: () => 204,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

export async function until(isTrue: () => boolean | Promise<boolean>, what: string): Promise<void> {
  for (const deadline = Date.now() + 20_000; !(await isTrue()); ) {
    if (Date.now() > deadline) throw new Error(`not within 20 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
