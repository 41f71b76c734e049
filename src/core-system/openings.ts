import { appendEvents } from '../events/index.ts';
import { addDays, findInstitution, type Institution, instantsOf, localDate } from '../institutions/index.ts';
import { Book } from '../ledger/index.ts';
import { Problem } from '../shared/problem.ts';
import { sqlStateOf, type Transaction } from '../storage/index.ts';
import { internalAccountId } from './internal-accounts.ts';
import {
  insertOpening,
  type OpeningRow,
  selectDueOpening,
  selectOpeningCounter,
  setOpeningDeposited,
} from './opening-queries.ts';

/** SQLSTATE of the trigger that counts openings and deposits (sql/functions/core-system/count_opening.sql). */
const capState = 'SD042';

/**
 * Problem `too_many_requests` if the institution opens no more memberships today. Registration checks this for known member numbers,
 * too: otherwise the response time reveals whether the number is known (ADR 28).
 */
export async function openingsUsedUp(
  tx: Transaction,
  institution: Institution,
  at: Date,
): Promise<Problem | undefined> {
  const { demo, openingDepositMinor: deposit, policies } = institution;
  const today = localDate(at, institution.timeZone);
  const { openings, deposited } = await selectOpeningCounter(tx, today);
  const isPaidOut = demo && deposited + deposit > policies.openingDepositsPerDayMinor;
  return openings >= policies.openingsPerDay || isPaidOut ? noMoreToday(institution, at) : undefined;
}

/** The key of the deposit's posting, and the time of the opening. */
interface Posting {
  readonly postingKey: bigint;
  readonly at: Date;
}

/**
 * Records a membership that was opened at registration. A demo pays its deposit at once; any other institution pays it when the
 * member activates their login, so that registration moves no money.
 *
 * Problem `too_many_requests`: the institution's daily caps are reached.
 */
export async function recordOpening(
  tx: Transaction,
  institution: Institution,
  opening: Pick<OpeningRow, 'customerKey' | 'personKey' | 'accountId'> & Posting,
): Promise<void> {
  const { postingKey, at, ...keys } = opening;
  const { openingDepositMinor: deposit } = institution;
  const today = localDate(at, institution.timeZone);
  await refusedOverCaps(institution, at, () => insertOpening(tx, { ...keys, openedOn: today, deposit }));
  if (institution.demo) await payDueOpening(tx, keys.personKey, { postingKey, at });
}

/**
 * Pays the opening deposit if one is due to the person. It is paid once: the update that marks it paid locks the row.
 *
 * Problem `too_many_requests`: the funding account has reached its daily cap. Nothing was written.
 */
export async function payDueOpening(
  tx: Transaction,
  personKey: bigint,
  { postingKey, at }: Posting,
): Promise<void> {
  const { institutionId } = tx;
  const due = await selectDueOpening(tx, personKey);
  if (due === undefined) return;
  const institution = await findInstitution(tx, institutionId);
  if (institution === undefined) throw new Error('core: an opening of an institution that does not exist');
  const today = localDate(at, institution.timeZone);
  const { deposited } = await selectOpeningCounter(tx, today);
  const most = institution.policies.openingDepositsPerDayMinor;
  if (deposited + due.deposit > most) throw noMoreToday(institution, at);
  const paid = await refusedOverCaps(institution, at, () => setOpeningDeposited(tx, personKey, today));
  if (!paid) return;

  const { accountId, deposit } = due;
  const funding = internalAccountId('FUNDING', institution.currency);
  const book = await Book.lock(tx, [funding, accountId]);
  book.record({
    kind: 'OPENING',
    postingKey,
    debitAccountId: funding,
    creditAccountId: accountId,
    amountMinor: deposit,
  });
  const { accountKey, seq } = book.require(accountId);
  const when = await book.write(at);
  const event = { kind: 'account.balance_opened', subjectKey: accountKey, toKey: accountKey, toSeq: seq };
  await appendEvents(tx, [event], when);
}

/** Throws the refusal if the database rejects the opening, because simultaneous openings reached the cap first. */
async function refusedOverCaps<T>(institution: Institution, at: Date, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw sqlStateOf(error) === capState ? noMoreToday(institution, at, error) : error;
  }
}

function noMoreToday({ timeZone }: Institution, at: Date, cause?: unknown): Problem {
  const day = addDays(localDate(at, timeZone), 1);
  const { start: tomorrow } = instantsOf({ from: { day }, to: null }, timeZone);
  const millis = (tomorrow?.getTime() ?? at.getTime()) - at.getTime();
  return new Problem('too_many_requests', 'The institution opens no more memberships today.', {
    retryAfterSeconds: Math.max(1, Math.ceil(millis / 1000)),
    revealsMembership: true,
    cause,
  });
}
