import type { BusinessTime } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import type { EndedBreak, FoundBreak } from './break.ts';
import { type EndingRow, type NewsRow, selectEndings, selectNews, selectNextOpen } from './follow-queries.ts';
import { writeBreaks } from './write-breaks.ts';

/** Open breaks that are looked at together. A look takes as long with ten thousand open breaks as with these. */
const lookedAtOnce = 500;

/**
 * Opens the breaks that need no comparison, and closes those whose reason is over: the missing posting has arrived, the core has
 * decided, the account is above its floor again. Several processes may do it at once; a thing has one open break.
 *
 * Open breaks are looked at in the order of their keys, some after the break `after`. Returns the value of `after` for the next look,
 * 0 to begin again.
 */
export async function followBreaks(
  {
    database,
    clock,
    businessTime,
  }: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  institutionId: InstitutionId,
  after: bigint,
): Promise<bigint> {
  const at = businessTime(institutionId, clock());
  const { news, endings, next } = await database.read(institutionId, async (db) => {
    const [opening, open] = await Promise.all([selectNews(db, at), selectNextOpen(db, after, lookedAtOnce)]);
    const last = open.length < lookedAtOnce ? 0n : (open.at(-1) ?? 0n);
    return { news: opening, endings: await selectEndings(db, open), next: last };
  });
  if (news.length + endings.length === 0) return next;
  await database.transaction(institutionId, (tx) =>
    writeBreaks(tx, { found: news.map(foundOf), ended: endings.map(endOf) }, { at }),
  );
  return next;
}

function foundOf({ transferId, refusalCode, refusalReason, since, ...row }: NewsRow): FoundBreak {
  const refusal = `${refusalCode}${refusalReason === null ? '' : `: ${refusalReason}`}`;
  const moment = since.toISOString();
  const notes: Partial<Record<FoundBreak['class'], string>> = {
    TIMING: `The core has had the instruction ${transferId} since ${moment} and has not reported its outcome.`,
    REVERSAL_REJECTED: `The core has refused the reversal ${transferId} at ${moment} (${refusal}). It stands here.`,
    BELOW_FLOOR: `The core has refused ${transferId} at ${moment} (${refusal}). Its reversal has taken the account below its floor.`,
  };
  return { ...row, accountSeq: null, coreId: null, asOf: null, note: notes[row.class] ?? refusal };
}

function endOf({ breakKey, closedBy, detail }: EndingRow): EndedBreak {
  const notes: Partial<Record<EndedBreak['closedBy'], string>> = {
    DECIDED: `The core has reported the outcome: ${detail}.`,
    ARRIVED: detail === null ? 'The missing postings have arrived.' : `The posting ${detail} has arrived.`,
    RECOVERED: 'The account is above its floor again.',
  };
  return { breakKey, closedBy, note: notes[closedBy] ?? closedBy };
}
