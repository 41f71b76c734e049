import { type Database, type InstitutionId, type Queryable, systemClock } from '../storage/index.ts';
import type { Check } from './check.ts';
import { coreChecks } from './core-checks.ts';
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

/** A row that breaks a check. */
export interface Finding {
  readonly check: string;
  readonly row: string;
  readonly detail: string;
}

export interface ReconcileOptions {
  readonly onFinding: (finding: Finding) => void;
  /** Called with the walk and its number of finished rows. */
  readonly onProgress?: (walk: string, done: number) => void;
  /** The service's current time: accounts must not be ahead of it, and it selects the periods of limits that still bind. */
  readonly at?: Date;
  /** Approximate rows per chunk; for accounts, entries per chunk. */
  readonly atOnce?: number;
}

const checks: readonly Check[] = [...ledgerChecks, ...transferChecks, ...coreChecks];
const usuallyAtOnce = 10_000;
/** Rows per counter, whose transfers of a day or a month are summed. */
const rowsOfACounter = 50;
/** The highest key, since rows without a parent may have any key. */
const lastKey = '9223372036854775807';

/**
 * Recomputes one institution's balances from its entries, and its holds and limit counters from its transfers; checks
 * references between tables; reports each row that is off.
 *
 * Runs beside the service: it locks nothing, and walks in chunks, each check in one statement and so one snapshot. Values
 * across two chunks are compared only as far as they never change.
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
    // Also if an import ran between two chunks; then each posting turns out to be in order.
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

/** The first findings, and one more if there are others. */
function firstOf(found: readonly Finding[], row: string): Finding[] {
  const [first] = found;
  if (first === undefined || found.length <= namedOfOneKind) return [...found];
  const more = { check: first.check, row, detail: `there are more than the ${namedOfOneKind} named` };
  return [...found.slice(0, namedOfOneKind), more];
}

interface Expected {
  readonly accountId: string;
  /** The newest entry when the account was walked; later entries are not compared. */
  readonly seq: bigint;
  entries: bigint;
  sum: bigint;
}

/**
 * Checks that each entry of an order has exactly one event, so that a reader of an account's events misses none. Events have
 * no index by account, so their numbers are subtracted from those of the entries; only an account with a difference is
 * read entry by entry.
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
