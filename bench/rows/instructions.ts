import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { compared, drive, inTurns, plain, type Row, type Run, serve, start, warmUp } from '../measure.ts';

const reportsAtOnce = 64;
const door = '/digitalbanking/core/v1/instructions';

export const instructions: Row = {
  name: 'instructions',
  title: `Transfers that a core decides: a connector takes instructions and accepts ${reportsAtOnce} at once, 256 connections wait for the outcome`,
  async measure(bench) {
    const own = await serve(bench);
    const core = await start(bench, { ...plain, record: 'core' });
    const connector = new Connector(core);
    try {
      await warmUp(core);
      // As autovacuum does within a minute. Plans that were made for empty tables walk through every transfer.
      await core.stage.sql(core.dataset.connection.database, 'analyze');
      const rates = await inTurns(bench, {
        'instructions accepted': () => acceptedASecond(core),
        'transfers of the own ledger': async () =>
          (await drive(own, { traffic: 'transfers', connections: 256 })).perSecond,
      });
      return [
        compared({
          name: 'instructions',
          unit: 'accepted/s',
          ours: rates['instructions accepted'],
          against: 'transfers of the own ledger',
          theirs: rates['transfers of the own ledger'],
        }),
      ];
    } finally {
      await connector.stop();
    }
  },
};

/** An instruction, as far as the connector reads it. */
interface Instruction {
  readonly id: string;
  readonly sequence: number;
}

/** Counted in the database, because a request without an outcome gets a response too, after five seconds. */
async function acceptedASecond(run: Run): Promise<number> {
  const count = async () => {
    const [row] = await run.stage.sql<{ count: bigint }>(
      run.dataset.connection.database,
      "select count(*) as count from core_instructions where state = 'ACCEPTED'",
    );
    return { count: Number(row?.count), at: performance.now() };
  };
  let [before, after] = [await count(), await count()];
  await drive(
    run,
    { traffic: 'transfers', connections: 256 },
    {
      during: async () => {
        before = await count();
        await sleep(run.pace.seconds * 900);
        after = await count();
      },
    },
  );
  return (after.count - before.count) / ((after.at - before.at) / 1000);
}

/** Takes instructions and accepts each, as the connector of a core does that decides at once. */
class Connector {
  readonly #pool: Pool;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #running: Promise<unknown>;
  readonly #reporting = new Set<Promise<unknown>>();
  #isStopping = false;

  constructor({ server, dataset }: Run) {
    this.#pool = new Pool(server.url, { connections: reportsAtOnce + 1 });
    this.#headers = {
      authorization: `Bearer ${dataset.people.connectorToken}`,
      'content-type': 'application/json',
    };
    this.#running = this.#work();
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
    await this.#pool.close();
  }

  /** Names the last sequence that it has, because a connector that does not is given everything again. */
  async #work(): Promise<void> {
    for (let last = 0; !this.#isStopping; ) {
      const path = `${door}?limit=200&wait=1&after=${last}`;
      for (const { id, sequence } of (await this.#send('GET', path)) as Instruction[]) {
        last = sequence;
        while (this.#reporting.size >= reportsAtOnce) await Promise.race(this.#reporting);
        const report = this.#accept(id).finally(() => this.#reporting.delete(report));
        this.#reporting.add(report);
      }
    }
    await Promise.all(this.#reporting);
  }

  #accept(id: string): Promise<unknown> {
    const outcome = { outcome: 'ACCEPTED', coreReference: `T-${id}`.slice(0, 64) };
    return this.#send('POST', `${door}/${id}/outcome`, outcome);
  }

  async #send(method: 'GET' | 'POST', path: string, json?: object): Promise<unknown> {
    const { statusCode, body } = await this.#pool.request({
      method,
      path,
      headers: this.#headers,
      body: json === undefined ? null : JSON.stringify(json),
    });
    const text = await body.text();
    if (statusCode !== 200) throw new Error(`${method} ${path}: ${statusCode} ${text}`);
    return JSON.parse(text);
  }
}
