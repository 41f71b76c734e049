import { spawn } from 'node:child_process';
import type { SocketConnection } from '../../src/storage/index.ts';
import { asSuperuser } from '../../test/support/postgres.ts';
import { exitOf } from '../../test/support/processes.ts';
import type { Load } from './load.ts';

interface Verdict {
  /** Ids of the orders whose outcome the books do not have. */
  readonly lost: readonly string[];
  /** Everything else is as it must be. */
  readonly isSound: boolean;
}

/** Compares every order with the books, prints the figures of each phase, and runs reconcile and the audit's verification. */
export async function verify({
  root,
  environment,
  load,
  name,
  connection,
  institutions,
  say,
}: {
  readonly root: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly load: Load;
  /** The beginning of the ids of the load's orders. */
  readonly name: string;
  readonly connection: SocketConnection;
  /** Codes of those whose audit is verified. */
  readonly institutions: readonly string[];
  readonly say: (text: string) => void;
}): Promise<Verdict> {
  for (const [phase, { statuses, millis, seconds }] of load.phases) {
    const sorted = millis.toSorted((one, other) => one - other);
    const at = (part: number) => Math.round(sorted[Math.floor(part * (sorted.length - 1))] ?? 0);
    const counts = [...statuses].map(([status, count]) => `${status}: ${count}`).join(', ');
    say(
      `${phase} (${Math.round(seconds)} s): ${counts}; p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, most ${at(1)} ms`,
    );
  }
  const stored = await asSuperuser(connection, async (client) => {
    const { rows } = await client.query<{ id: string; status: string; entries: number }>(
      `select t.transfer_id as id, t.status, count(e.*)::integer as entries
       from transfers t left join entries e
         on e.institution_id = t.institution_id and e.posting_key = t.transfer_key and e.kind = 'TRANSFER'
       where t.transfer_id like $1 group by t.institution_id, t.transfer_id, t.status`,
      [`${name}-%`],
    );
    return rows;
  });
  const entriesOf = new Map(stored.map(({ id, status, entries }) => [id, { status, entries }]));
  const lost = [...load.outcomes].flatMap(([id, status]) =>
    status !== 422 && entriesOf.get(id)?.status !== 'COMPLETED' ? [id] : [],
  );
  const declined = [...load.outcomes].filter(([, status]) => status === 422);
  const doubled = stored.filter(({ status, entries }) => status === 'COMPLETED' && entries !== 2);
  const unasked = stored.filter(({ id }) => !load.outcomes.has(id));
  say(
    `${load.outcomes.size} orders, ${load.repeated} decided by a repeated request, ${load.unsent} requests not sent: ` +
      `${lost.length} lost, ${declined.length} declined, ${doubled.length} doubled, ${stored.length - entriesOf.size} stored twice, ${unasked.length} never ordered`,
  );
  // Each account could pay all orders, so none may be declined.
  const isWhole = declined.length + doubled.length + unasked.length === 0 && stored.length === entriesOf.size;
  const isReconciled = await reconcile();
  let isVerified = true;
  for (const institution of institutions) {
    const { code, output } = await command('audit', 'verify', '--institution', institution);
    if (code !== 0) say(`audit verify --institution ${institution}: ${output}`);
    isVerified &&= code === 0;
  }
  if (isVerified) say(`audit verify: the chains of ${institutions.length} institutions hold`);
  return { lost, isSound: isWhole && isReconciled && isVerified };

  /** A clock that was an hour ahead leaves accounts that are ahead of it until then, and nothing else. */
  async function reconcile(): Promise<boolean> {
    const { code, output } = await command('reconcile');
    const findings = output.split('\n').filter((line) => /^\S+ {2}\S+ {2}/.test(line));
    const ahead = findings.filter((line) => line.includes('  ahead-of-clock  '));
    const others = findings.filter((line) => !ahead.includes(line));
    say(
      `reconcile: ${ahead.length} accounts ahead of the clock, ${others.length} other findings, status ${code}`,
    );
    for (const line of others.slice(0, 50)) say(`  ${line}`);
    const isExplained = code === 0 || (code === 3 && ahead.length > 0 && load.phases.has('clock'));
    return isExplained && others.length === 0;
  }

  async function command(...words: string[]): Promise<{ readonly code: number; readonly output: string }> {
    const child = spawn(process.execPath, ['src/main.ts', ...words], {
      cwd: root,
      env: { PATH: process.env.PATH, ...environment },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => {
      output += chunk;
    });
    return { code: (await exitOf(child)) ?? -1, output };
  }
}
