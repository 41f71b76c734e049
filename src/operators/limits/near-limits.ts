import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { type BusinessTime, type Institution, instantOf, localDate } from '../../institutions/index.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { periodEndOf, periodStartOf, type ShownLimit } from '../../transfers/index.ts';
import { readSums } from '../ledger/bounded-read.ts';
import { selectNear } from './near-queries.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
}

/** The most that a person looks through. */
const most = 200;

/**
 * The members, accounts and memberships that have used most of a limit in the present day or month, the fullest first. It looks at every
 * counter of these periods, on a connection of its own. The audit records the read. Problem `act_refused`.
 */
export async function nearLimits(
  { database, clock, businessTime }: Deps,
  { institutionId, timeZone }: Institution,
  { percent, origin }: { readonly percent: number; readonly origin: CommandOrigin },
): Promise<ShownLimit[]> {
  const day = localDate(businessTime(institutionId, clock()), timeZone);
  const rows = await readSums(database, institutionId, {
    read: (db) => selectNear(db, { day, month: periodStartOf('MONTH', day), percent, limit: most }),
    advice: 'Ask for a higher share.',
  });
  const after = { found: rows.length };
  const entry = { action: 'person.searched', outcome: 'succeeded', reason: 'limits', after, origin } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  return rows.map((row) => ({
    ...row,
    remainingMinor: row.maxAmount === null ? null : remaining(row.maxAmount - row.usedMinor),
    resetsAt: instantOf(periodEndOf(row.period, periodStartOf(row.period, day)), '00:00', timeZone),
  }));
}

/** A cap that was lowered can be below the use. */
function remaining(minor: bigint): bigint {
  return minor < 0n ? 0n : minor;
}
