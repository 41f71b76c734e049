import { asShown, type Category } from '../../accounts/index.ts';
import type { CommandOrigin } from '../../events/index.ts';
import {
  addDays,
  type BusinessTime,
  type Institution,
  instantOf,
  localDate,
} from '../../institutions/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { selectLedgerAccount } from './account-queries.ts';
import { selectBalancesBefore } from './entry-queries.ts';
import { recordRead } from './record-read.ts';

/**
 * The balance of an account at the end of each of the last days, and now, in the order of time and from the holder's side. Days before its first
 * entry are left out. Undefined if no account has this id. The audit records the read of a member's account.
 */
export async function balanceHistory(
  deps: Deps,
  { institutionId, timeZone }: Institution,
  { accountId, days, origin }: Asked,
): Promise<{ readonly currency: string; readonly balances: readonly Balance[] } | undefined> {
  if (!isPublicId(accountId)) return undefined;
  const { database, clock, businessTime } = deps;
  const now = businessTime(institutionId, clock());
  const today = localDate(now, timeZone);
  const moments = Array.from({ length: days }, (_, place) =>
    instantOf(addDays(today, place + 1 - days), '00:00', timeZone),
  );
  const found = await database.snapshot(institutionId, async (tx) => {
    const account = await selectLedgerAccount(tx, accountId);
    return account && { account, rows: await selectBalancesBefore(tx, account.accountKey, moments) };
  });
  if (found === undefined) return undefined;
  await recordRead(deps, institutionId, { account: found.account, reason: 'balances', origin });
  const { category, currency, posted } = found.account;
  const own = (minor: bigint) => formatMinor(asShown(category as Category, minor), currency);
  const past = found.rows.map(({ moment, balance }) => ({ before: moment, balance: own(balance) }));
  return { currency, balances: [...past, { before: now, balance: own(posted) }] };
}

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
}

interface Asked {
  readonly accountId: string;
  readonly days: number;
  readonly origin: CommandOrigin;
}

interface Balance {
  readonly before: Date;
  readonly balance: string;
}
