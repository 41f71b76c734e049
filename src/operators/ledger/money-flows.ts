import {
  addDays,
  type BusinessTime,
  type Institution,
  instantOf,
  isLocalDate,
  localDate,
} from '../../institutions/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { readSums } from './bounded-read.ts';
import { selectFlows } from './ledger-queries.ts';

/** Every transfer of the period is read, so its length has a bound. */
const mostDays = 31;
const usualDays = 7;

/**
 * The money that moved between classes of accounts: completed transfers that were ordered on these days, and postings that the core
 * sent on them. Both days count; the last seven without them. Problems `invalid_request` and `act_refused`.
 */
export async function moneyFlows(
  {
    database,
    clock,
    businessTime,
  }: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  { institutionId, timeZone }: Institution,
  asked: { readonly from?: string | undefined; readonly to?: string | undefined },
) {
  for (const day of [asked.from, asked.to])
    if (day !== undefined && !isLocalDate(day))
      throw new Problem('invalid_request', `${day} is not a day. Write it as YYYY-MM-DD.`);
  const to = asked.to ?? localDate(businessTime(institutionId, clock()), timeZone);
  const from = asked.from ?? addDays(to, 1 - usualDays);
  if (from > to || addDays(from, mostDays) <= to)
    throw new Problem('invalid_request', `The period must have 1 to ${mostDays} days.`);
  const period = {
    since: instantOf(from, '00:00', timeZone),
    until: instantOf(addDays(to, 1), '00:00', timeZone),
  };
  const rows = await readSums(database, institutionId, {
    read: (db) => selectFlows(db, period),
    advice: 'Choose fewer days.',
  });
  return {
    from,
    to,
    flows: rows.map((row) => ({ ...row, amount: formatMinor(BigInt(row.amount), row.currency) })),
  };
}
