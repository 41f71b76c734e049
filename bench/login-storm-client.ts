/*
 * Sends a storm of logins, all at once, each on a connection of its own: a process beside the one that reads, so that
 * neither's stall is counted as the service's. Or sends nothing and hashes for a while: what the machine makes of that alone.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { hash } from '@node-rs/argon2';
import { Client } from 'undici';

/** What it is first told. Then a number is for how many milliseconds to hash, and what else comes the signal; it answers when done. */
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
process.on('message', (told) => {
  const done = typeof told === 'number' ? hashFor(told) : send(storm.url);
  void done.then((weathered) => process.send?.(weathered));
});

/** As the service does it, one after another. */
async function hashFor(millis: number): Promise<Weathered> {
  const until = performance.now() + millis;
  while (performance.now() < until) {
    await hash('nobody has this password', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  }
  return { seconds: millis / 1_000, refused: 0 };
}

async function send(url: string): Promise<Weathered> {
  const began = performance.now();
  const statuses = await Promise.all(
    bodies.map(async (login) => {
      const client = new Client(url);
      const { body, statusCode } = await client.request({
        path: '/auth/v2/token',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: login,
      });
      await body.dump();
      await client.close();
      return statusCode;
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  return { seconds, refused: statuses.filter((status) => status !== 200).length };
}
