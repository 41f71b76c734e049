import type { Queryable } from '../storage/index.ts';
import { type Finding, findingOf } from './finding.ts';
import { namedOfOneKind, selectOneSidedPostings, selectUntoldEntries } from './transfer-checks.ts';

/** The entries of an account that need an event: their number, and the sum of their numbers on the account. */
export interface Expected {
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
export class EventsOfAccounts {
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
    for (const [accountKey, account] of this.#expected) {
      if (account.entries !== 0n || account.sum !== 0n)
        findings.push(...(await untoldEntries(db, accountKey, account)));
    }
    return findings;
  }
}

const withoutTransfer = { transferId: null, expected: null, found: null, currency: null } as const;

/** The account's entries that are not in exactly one event, entry by entry. */
export async function untoldEntries(
  db: Queryable,
  accountKey: bigint,
  { accountId, seq }: Pick<Expected, 'accountId' | 'seq'>,
): Promise<Finding[]> {
  const found = (await selectUntoldEntries(db, accountKey, seq)).map((untold) =>
    findingOf('event-gap', {
      ...withoutTransfer,
      row: `${accountId}, entry ${untold.seq}`,
      detail: `${untold.events} events tell of it, not one`,
      accountId,
      entry: untold.seq,
    }),
  );
  return firstOf(found, accountId);
}

/** Openings and adjustments that do not add up to zero. */
export async function oneSidedPostings(db: Queryable): Promise<Finding[]> {
  const found = (await selectOneSidedPostings(db)).map(({ postingKey, sum, seq, accountId, currency }) =>
    findingOf('posting-sum', {
      ...withoutTransfer,
      row: `posting ${postingKey}`,
      detail: `adds up to ${sum}`,
      accountId,
      entry: seq,
      expected: '0',
      found: sum,
      currency,
    }),
  );
  return firstOf(found, 'postings');
}

/** The first findings, and one more if there are others. */
function firstOf(found: readonly Finding[], row: string): Finding[] {
  const [first] = found;
  if (first === undefined || found.length <= namedOfOneKind) return [...found];
  const detail = `there are more than the ${namedOfOneKind} named`;
  const more = { ...withoutTransfer, check: first.check, row, detail, accountId: null, entry: null };
  return [...found.slice(0, namedOfOneKind), more];
}
