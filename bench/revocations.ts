/*
 * The time of a revocation, and of the first request that it refuses, while a long transaction changes every person, account
 * and holder of the institution as an import does:
 *
 *   node bench/revocations.ts [ROUNDS]     default 300
 */
import pg from 'pg';
import { clientCredentials, urlOf } from './fill.ts';
import { accountId } from './job.ts';
import { plain } from './measure.ts';
import { Stage } from './stage.ts';

const rounds = Number(process.argv[2] ?? 300);
await using stage = await Stage.open((text) => console.log(text));
const dataset = await stage.dataset(plain);
const server = await stage.service(dataset);
const { clientId, clientSecret } = clientCredentials;
const tokens = [...dataset.people.tokens];

async function revokeOnce(): Promise<{ readonly revoked: number; readonly refused: number }> {
  const token = tokens.pop() as string;
  const member = tokens.length;
  const read = () =>
    fetch(`${server.url}/digitalbanking/db-accounts/v1/accounts/${accountId(member)}`, {
      headers: { authorization: `Bearer ${token}` },
    });
  for (let reads = 0; reads < 3; reads += 1) await (await read()).arrayBuffer();
  const begun = performance.now();
  const response = await fetch(`${server.url}/auth/v2/revoke`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ client_id: clientId, client_secret: clientSecret, token }),
  });
  if (response.status !== 200) throw new Error(await response.text());
  await response.arrayBuffer();
  const revoked = performance.now();
  const refusal = await read();
  if (refusal.status !== 401) throw new Error(`a revoked token got ${refusal.status}`);
  await refusal.arrayBuffer();
  return { revoked: revoked - begun, refused: performance.now() - revoked };
}

async function measure(name: string): Promise<void> {
  const times: Awaited<ReturnType<typeof revokeOnce>>[] = [];
  for (let round = 0; round < rounds; round += 1) times.push(await revokeOnce());
  const at = (kind: 'revoked' | 'refused', share: number) =>
    times
      .map((time) => time[kind])
      .toSorted((a, b) => a - b)
      [Math.floor(share * rounds)]?.toFixed(1);
  console.log(
    `${name.padEnd(24)} revocation p50 ${at('revoked', 0.5)} p99 ${at('revoked', 0.99)} ms, refusal p50 ${at('refused', 0.5)} p99 ${at('refused', 0.99)} ms`,
  );
}

await measure('quiet');
const importing = new pg.Client({ connectionString: urlOf(dataset.connection) });
await importing.connect();
let isOver = false;
let statements = 0;
const load = (async () => {
  await importing.query('begin');
  while (!isOver) {
    for (const [table, key, change] of [
      ['persons', 'person_key', `last_name = last_name || 'x'`],
      ['accounts', 'account_key', `description = description || 'x'`],
      ['holders', 'account_key', 'may_pay = not may_pay'],
    ]) {
      for (let part = 0; part < 10 && !isOver; part += 1) {
        await importing.query(`update ${table} set ${change} where ${key} % 10 = ${part}`);
        statements += 1;
      }
    }
  }
  await importing.query('rollback');
})();
await measure('during the import');
isOver = true;
await load;
await importing.end();
console.log(`The transaction ran ${statements} statements.`);
