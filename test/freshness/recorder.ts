import { AssertionError } from 'node:assert';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bank } from './bank.ts';
import type { History, Read, Write } from './history.ts';

const always = Number.NEGATIVE_INFINITY;
const patienceMillis = 60_000;

/** A transfer whose place among the writes of its accounts the ledger decides. */
interface Movement {
  readonly start: number;
  readonly end: number;
}

/** Records writes and reads by one monotonic clock. Writes of one subject are recorded in their order. */
export class Recorder {
  readonly #subjects = new Map<string, { writes: Write[]; reads: Read[] }>();
  readonly #movements = new Map<string, Movement>();
  readonly #accounts: readonly string[];
  #backup: ReadonlyMap<string, string> = new Map();
  readonly #forgottenAt = new Map<string, number>();

  /** Only `move` may change the balances of `accounts`. */
  constructor(accounts: readonly string[]) {
    this.#accounts = accounts;
  }

  /** The state of a new subject. */
  begin(subject: string, value: string): void {
    this.#of(subject).writes.push({ value, start: always, end: always });
  }

  async beginBalances(bank: Bank): Promise<void> {
    for (const [subject, value] of await this.#balances(bank)) this.begin(subject, value);
  }

  isWritten(subject: string): boolean {
    return this.#of(subject).writes.length > 1;
  }

  valueOf(subject: string): string | undefined {
    return this.#subjects.get(subject)?.writes.at(-1)?.value;
  }

  observe(subject: string, read: Read): void {
    this.#of(subject).reads.push(read);
  }

  /** Repeats `act`, which must be repeatable, until it is acknowledged; then the subjects have these values. */
  async write(values: Readonly<Record<string, string>>, act: () => Promise<unknown>): Promise<void> {
    const { start, end } = await acknowledged(act);
    for (const [subject, value] of Object.entries(values)) {
      this.#of(subject).writes.push({ value, start, end });
    }
  }

  /** The same for a transfer between the accounts of this recorder. */
  async move(transferId: string, act: () => Promise<unknown>): Promise<void> {
    this.#movements.set(transferId, await acknowledged(act));
  }

  /** Gives the movements since the last call their places. No transfer may be under way. */
  async settleBalances(bank: Bank): Promise<void> {
    const rows = await bank.sql<{ accountId: string; transferId: string; posted: string }>(
      `select b.account_id as "accountId", t.transfer_id as "transferId", e.posted_after::text as posted
       from entries e join balances b using (institution_id, account_key)
       join transfers t on t.institution_id = e.institution_id and t.transfer_key = e.posting_key
       order by e.account_key, e.seq`,
    );
    for (const { accountId, transferId, posted } of rows) {
      const movement = this.#movements.get(transferId);
      if (movement !== undefined) this.#of(balanceOf(accountId)).writes.push({ value: posted, ...movement });
    }
    this.#movements.clear();
  }

  /** Keeps the state that `restored` writes again. No write may be under way. */
  async noteBackup(bank: Bank): Promise<void> {
    await this.settleBalances(bank);
    this.#backup = new Map(
      [...this.#subjects].map(([subject, { writes }]) => [subject, writes.at(-1)?.value as string]),
    );
  }

  /**
   * The state of the backup is written again. A subject that began later has the value of `unknown`; without one its history
   * ends.
   */
  async restored(
    unknown: (subject: string) => string | undefined,
    act: () => Promise<unknown>,
  ): Promise<void> {
    const { start, end } = await acknowledged(act);
    for (const [subject, { writes }] of this.#subjects) {
      const value = this.#backup.get(subject) ?? unknown(subject);
      if (value !== undefined) writes.push({ value, start, end });
      else if (!this.#forgottenAt.has(subject)) this.#forgottenAt.set(subject, start);
    }
  }

  isForgotten(subject: string): boolean {
    return this.#forgottenAt.has(subject);
  }

  histories(): History[] {
    return [...this.#subjects].map(([subject, { writes, reads }]) => {
      const forgottenAt = this.#forgottenAt.get(subject) ?? Number.POSITIVE_INFINITY;
      return { subject, writes, reads: reads.filter(({ end }) => end < forgottenAt) };
    });
  }

  #of(subject: string) {
    const known = this.#subjects.get(subject);
    if (known !== undefined) return known;
    const added = { writes: [], reads: [] };
    this.#subjects.set(subject, added);
    return added;
  }

  async #balances(bank: Bank): Promise<[string, string][]> {
    const rows = await bank.sql<{ accountId: string; posted: string }>(
      `select account_id as "accountId", posted::text from balances join institutions using (institution_id)
       where code = 'lakeside' and account_id in (${this.#accounts.map((one) => `'${one}'`)})`,
    );
    return rows.map(({ accountId, posted }) => [balanceOf(accountId), posted]);
  }
}

export function balanceOf(accountId: string): string {
  return `balance of ${accountId}`;
}

/** A failed contract is no lost response: it ends the run. */
async function acknowledged(act: () => Promise<unknown>): Promise<Movement> {
  const start = performance.now();
  for (;;) {
    try {
      await act();
      return { start, end: performance.now() };
    } catch (error) {
      if (error instanceof AssertionError || performance.now() > start + patienceMillis) throw error;
      await sleep(50);
    }
  }
}
