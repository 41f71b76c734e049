import { setTimeout as sleep } from 'node:timers/promises';
import { asSuperuser } from '../test/support/postgres.ts';

/**
 * Keeps a transaction open, and then the next one: the feed shows an event only once no older transaction runs, so every event arrives
 * up to a second and a half late. On a busy machine that happens by itself, rarely. Returns when the tests have stopped the cluster.
 */
export async function slowFeed(host: string): Promise<void> {
  const connection = { host, port: 5432, user: 'postgres', database: 'postgres' };
  await asSuperuser(connection, async (client) => {
    client.on('error', () => {});
    for (;;) {
      await client.query('begin');
      await client.query('select pg_current_xact_id(), pg_sleep(0.4 + random())');
      await client.query('commit');
      await sleep(30);
    }
  }).catch(() => {});
}
