/*
 * The time of a revocation, and of the first request that it refuses: alone, and for as long as the command `import` brings
 * new members into the same institution:
 *
 *   node bench/revocations.ts [MEMBERS]     default 50000
 */
import { spawn } from 'node:child_process';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { writeExtract } from './extract.ts';
import { clientCredentials, environmentOf } from './fill.ts';
import { accountId } from './job.ts';
import { plain } from './measure.ts';
import { count, Stage } from './stage.ts';

const members = Number(process.argv[2] ?? 50_000);
const quietRounds = 300;
const main = fileURLToPath(new URL('../src/main.ts', import.meta.url));
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

async function measure(name: string, isOver: (rounds: number) => boolean): Promise<void> {
  const times: Awaited<ReturnType<typeof revokeOnce>>[] = [];
  // One after the other, with a pause, so that the bench does not take the machine from the import.
  while (!isOver(times.length) && tokens.length > 0) {
    times.push(await revokeOnce());
    await sleep(20);
  }
  const at = (kind: 'revoked' | 'refused', share: number) =>
    times
      .map((time) => time[kind])
      .toSorted((a, b) => a - b)
      [Math.floor(share * times.length)]?.toFixed(1);
  const part = (kind: 'revoked' | 'refused') =>
    `p50 ${at(kind, 0.5)} p99 ${at(kind, 0.99)} most ${at(kind, 1 - 1e-9)} ms`;
  console.log(
    `${name.padEnd(18)} ${times.length} times; revocation ${part('revoked')}; refusal ${part('refused')}`,
  );
}

const folder = path.join(stage.folder, 'extract');
const rows = await writeExtract(folder, members);
await measure('alone', (rounds) => rounds === quietRounds);

const started = performance.now();
const importing = spawn(process.execPath, [main, 'import', folder], {
  env: { PATH: process.env.PATH, ...environmentOf(dataset.connection) },
  stdio: ['ignore', 'ignore', 'inherit'],
});
const ended = new Promise<number | null>((resolve) => importing.once('close', resolve));
await measure('during an import', () => importing.exitCode !== null || importing.signalCode !== null);
const code = await ended;
if (code !== 0) throw new Error(`the import ended with ${code}`);
const seconds = (performance.now() - started) / 1_000;
console.log(`The import brought ${count(members)} members, ${count(rows)} rows, in ${seconds.toFixed(1)} s.`);
