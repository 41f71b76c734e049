import { type BusinessTime, type Institution, instantOf } from '../../institutions/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { readSums } from './bounded-read.ts';
import { type ClassBalanceRow, selectClassBalances } from './ledger-queries.ts';

/**
 * The debit and credit balances of each class of accounts, with everything that was recorded before a minute of the institution's clock;
 * without one, everything until now. The totals of a currency are equal. `at` is the moment before which everything that counts was recorded, for
 * `accountsOfClass`. Problems `invalid_request` and `act_refused`.
 */
export async function trialBalance(
  { database, clock, businessTime }: Deps,
  { institutionId, timeZone }: Institution,
  minute: string | undefined,
) {
  const now = businessTime(institutionId, clock());
  const before = minute === undefined ? null : instantOfMinute(minute, timeZone);
  if (before !== null && before > now)
    throw new Problem('invalid_request', 'The moment is in the future. Leave `at` out for now.');
  const rows = await readSums(database, institutionId, {
    read: (db) => selectClassBalances(db, before),
    advice: 'Choose a later moment.',
  });
  const currencies = [...new Set(rows.map(({ currency }) => currency))];
  return {
    at: before ?? justAfter(now, rows),
    classes: rows.map(({ newestAt, ...row }) => ({ ...row, ...figuresOf([row], row.currency) })),
    totals: currencies.map((currency) => ({
      currency,
      ...figuresOf(
        rows.filter((row) => row.currency === currency),
        currency,
      ),
    })),
  };
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
}

/** Times of entries are whole milliseconds, and those of another process can be a little ahead. */
function justAfter(now: Date, rows: readonly ClassBalanceRow[]): Date {
  return new Date(Math.max(now.getTime(), ...rows.map(({ newestAt }) => newestAt.getTime() + 1)));
}

/** Throws `invalid_request` for a day that does not exist. */
function instantOfMinute(minute: string, timeZone: string): Date {
  const [day = '', time = ''] = minute.split('T');
  try {
    return instantOf(day, time, timeZone);
  } catch {
    throw new Problem('invalid_request', 'The moment must be YYYY-MM-DDTHH:MM, like 2026-11-20T17:00.');
  }
}

/** The balance is the credits less the debits, so that a debt of the institution is positive. */
function figuresOf(
  rows: readonly { readonly debits: string; readonly credits: string }[],
  currency: string,
): { debits: string; credits: string; balance: string } {
  const sumOf = (side: 'debits' | 'credits') => rows.reduce((sum, row) => sum + BigInt(row[side]), 0n);
  const [debits, credits] = [sumOf('debits'), sumOf('credits')];
  const text = (minor: bigint) => formatMinor(minor, currency);
  return { debits: text(debits), credits: text(credits), balance: text(credits - debits) };
}
