/*
 * Sends a storm of logins, all at once, each on a connection of its own: a process beside the one that reads, so that
 * neither's stall is counted as the service's.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { Client } from 'undici';

/** What it is first told; then any message is the signal, and it answers when every login was answered. */
export interface Storm {
  readonly url: string;
  readonly logins: readonly { readonly username: string; readonly password: string }[];
}
export interface Weathered {
  readonly seconds: number;
  readonly refused: number;
}

// It stands for members' apps elsewhere, which take no CPU of the service's.
setPriority(19);

const [storm] = (await once(process, 'message')) as [Storm];
const bodies = storm.logins.map((who) =>
  JSON.stringify({
    grant_type: 'password',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    ...who,
  }),
);
process.on('message', () => {
  send(storm.url).then((weathered) => process.send?.(weathered));
});

async function send(url: string): Promise<Weathered> {
  const clients = bodies.map(() => new Client(url));
  const began = performance.now();
  const statuses = await Promise.all(
    clients.map(async (client, n) => {
      const { body, statusCode } = await client.request({
        path: '/auth/v2/token',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: bodies[n] as string,
      });
      await body.dump();
      return statusCode;
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  await Promise.all(clients.map((client) => client.close()));
  return { seconds, refused: statuses.filter((status) => status !== 200).length };
}
