/*
 * Sends a storm of logins, all at once, each on a connection of its own. It is a process beside the one that reads, so
 * that a stall of either is not counted as the service's. On request it only hashes instead: the unrelated process that the
 * storm is compared with.
 */
import { once } from 'node:events';
import { setPriority } from 'node:os';
import { hash } from '@node-rs/argon2';
import { Client } from 'undici';

/**
 * The first message. After it, a number means: hash for so many milliseconds; any other message starts the storm. Each is
 * answered by one StormResult.
 */
export interface Storm {
  readonly url: string;
  readonly logins: readonly { readonly username: string; readonly password: string }[];
}
export interface StormResult {
  readonly seconds: number;
  readonly refused: number;
}

// Members' apps run on other machines, and take no CPU from the service.
setPriority(19);

const [storm] = (await once(process, 'message')) as [Storm];
const bodies = storm.logins.map((login) =>
  JSON.stringify({
    grant_type: 'password',
    client_id: 'demo-app',
    client_secret: 'demo-app-secret',
    ...login,
  }),
);
process.on('message', (message) => {
  const done = typeof message === 'number' ? hashFor(message) : send(storm.url);
  void done.then((result) => process.send?.(result));
});

/** One hash after another, with the service's parameters. */
async function hashFor(millis: number): Promise<StormResult> {
  const until = performance.now() + millis;
  while (performance.now() < until) {
    await hash('a password of no user', { memoryCost: 19_456, timeCost: 2, parallelism: 1 });
  }
  return { seconds: millis / 1_000, refused: 0 };
}

async function send(url: string): Promise<StormResult> {
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
