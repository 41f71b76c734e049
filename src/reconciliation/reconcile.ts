import { type Database, type InstitutionId, type Queryable, systemClock } from '../storage/index.ts';
import type { Check } from './check.ts';
import { ledgerChecks } from './ledger-checks.ts';
import {
  bounds,
  type CounterKey,
  namedOfOneKind,
  selectAhead,
  selectCounterBound,
  selectOneSidedPostings,
  selectToldEntries,
  selectToldInEvents,
  selectUncounted,
  selectUntoldEntries,
  transferChecks,
} from './transfer-checks.ts';

/** A row that is off: by which check, which row, and how. */
export interface Finding {
  readonly check: string;
  readonly row: string;
  readonly detail: string;
}

export interface ReconcileOptions {
  readonly onFinding: (finding: Finding) => void;
  /** What is being walked, and how many of it are done. */
  readonly onProgress?: (walk: string, done: number) => void;
  /** The service's present: no account is ahead of it, and periods of limits that it lies in are those that still bind. */
  readonly at?: Date;
  /** How many rows a chunk has, about; of accounts, how many entries. */
  readonly atOnce?: number;
}

const checks: readonly Check[] = [...ledgerChecks, ...transferChecks];
const usuallyAtOnce = 10_000;
/** A counter is added up from the transfers of a day or a month. */
const rowsOfACounter = 50;
/** Above every key: rows that belong to nothing may have any. */
const lastKey = '9223372036854775807';

/**
 * Recomputes one institution's balances from its entries, its holds and limit counters from its transfers, and
 * whether everything that belongs together is there; tells each row that is off.
 *
 * Runs beside the service: it locks nothing, and goes chunk by chunk, each question one statement and so one
 * snapshot. What two chunks have to agree on is compared only as far as it never changes.
 */
export async function reconcile(
  database: Pick<Database, 'read'>,
  institutionId: InstitutionId,
  options: ReconcileOptions,
): Promise<void> {
  const events = new EventsOfAccounts();
  const atOnce = options.atOnce ?? usuallyAtOnce;
  const at = options.at ?? systemClock();
  await database.read(institutionId, async (db) => {
    await ask(db, 'whole', [institutionId], options);
    let weight = 0n;
    for (const walk of ['accounts', 'transfers', 'ids', 'events'] as const) {
      let after = walk === 'ids' ? '' : '0';
      let done = 0;
      for (;;) {
        const { rows } = await db.query<{ bound: string | null; rows: bigint }>(bounds[walk], [
          institutionId,
          after,
          atOnce,
        ]);
        const [next] = rows;
        const upTo = next?.bound ?? (walk === 'ids' ? after : lastKey);
        await ask(db, walk, [institutionId, after, upTo], options);
        if (walk === 'transfers') {
          for (const missing of await selectUncounted(db, after, upTo, at)) {
            options.onFinding({ check: 'limit-counter', ...missing });
          }
        }
        if (walk === 'accounts') {
          for (const account of await selectAhead(db, after, upTo, at)) {
            options.onFinding({ check: 'ahead-of-clock', ...account });
          }
          const accounts = await selectToldEntries(db, after, upTo);
          events.expect(accounts);
          for (const account of accounts) weight += account.weight;
        }
        if (walk === 'events') events.see(await selectToldInEvents(db, after, upTo));
        done += Number(next?.rows ?? 0);
        options.onProgress?.(walk, done);
        if (upTo === lastKey || next?.bound == null) break;
        after = upTo;
      }
    }
    // Also when the core's figures came in between two chunks; then each posting is found in order.
    if (weight !== 0n) {
      const found = (await selectOneSidedPostings(db)).map(({ postingKey: key, sum }) => ({
        check: 'posting-sum',
        row: `posting ${key}`,
        detail: `adds up to ${sum}`,
      }));
      for (const finding of firstOf(found, 'postings')) options.onFinding(finding);
    }
    await walkCounters(db, atOnce, options);
    for (const finding of await events.findings(db)) options.onFinding(finding);
  });
}

async function walkCounters(db: Queryable, atOnce: number, options: ReconcileOptions): Promise<void> {
  let after: CounterKey = [-1, 0n, '0001-01-01'];
  for (let done = 0; ; ) {
    const next = await selectCounterBound(db, after, Math.ceil(atOnce / rowsOfACounter));
    if (next === undefined) return;
    await ask(db, 'counters', [db.institutionId, ...after, ...next.bound], options);
    done += next.rows;
    options.onProgress?.('counters', done);
    after = next.bound;
  }
}

async function ask(
  db: Queryable,
  walk: Check['walk'],
  values: readonly unknown[],
  options: ReconcileOptions,
): Promise<void> {
  for (const { name, statement, walk: its } of checks) {
    if (its !== walk) continue;
    const { rows } = await db.query<{ row: string; detail: string }>(statement, values);
    for (const { row, detail } of rows) options.onFinding({ check: name, row, detail });
  }
}

/** Those that are named, and that there are more. */
function firstOf(found: readonly Finding[], row: string): Finding[] {
  const [first] = found;
  if (first === undefined || found.length <= namedOfOneKind) return [...found];
  const more = { check: first.check, row, detail: `there are more than the ${namedOfOneKind} named` };
  return [...found.slice(0, namedOfOneKind), more];
}

interface Expected {
  readonly accountId: string;
  /** The newest entry when the account was walked: what came later is not compared. */
  readonly seq: bigint;
  entries: bigint;
  sum: bigint;
}

/**
 * Whether each entry of an order is told of by exactly one event, so that who follows an account's events misses
 * none. Events are not found by their account; so they are counted off against the entries, and only an account
 * for which that does not come out is looked at entry by entry.
 */
class EventsOfAccounts {
  readonly #expected = new Map<bigint, Expected>();

  expect(accounts: readonly (Expected & { readonly accountKey: bigint })[]): void {
    for (const account of accounts) if (account.seq > 0n) this.#expected.set(account.accountKey, account);
  }

  see(told: readonly { readonly accountKey: bigint; readonly seq: bigint }[]): void {
    for (const { accountKey, seq } of told) {
      const expected = this.#expected.get(accountKey);
      if (expected === undefined || seq > expected.seq) continue;
      expected.entries -= 1n;
      expected.sum -= seq;
    }
  }

  async findings(db: Queryable): Promise<Finding[]> {
    const findings: Finding[] = [];
    for (const [accountKey, { accountId, seq, entries, sum }] of this.#expected) {
      if (entries === 0n && sum === 0n) continue;
      const found = (await selectUntoldEntries(db, accountKey, seq)).map((untold) => ({
        check: 'event-gap',
        row: `${accountId}, entry ${untold.seq}`,
        detail: `${untold.events} events tell of it, not one`,
      }));
      findings.push(...firstOf(found, accountId));
    }
    return findings;
  }
}
