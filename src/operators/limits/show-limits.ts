import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { localDate } from '../../institutions/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { type LimitSubject, type ShownLimit, selectLimitUse } from '../../transfers/index.ts';
import { selectAccountRow } from '../accounts/account-queries.ts';
import { selectUserSubjects } from './subject-queries.ts';

export type LimitsOf =
  | { readonly accountId: string }
  | { readonly userId: string }
  | { readonly whole: true };

interface Asked {
  readonly of: LimitsOf;
  readonly now: Date;
  readonly timeZone: string;
  readonly origin: CommandOrigin;
}

/**
 * The limits of an account with its membership, of a user with the memberships, or of the institution as a whole, each with its use in the
 * present day or month. Undefined if there is no such account or user. The audit records a read about a member.
 */
export async function showLimits(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { of, now, timeZone, origin }: Asked,
): Promise<ShownLimit[] | undefined> {
  const shown = await database.snapshot(institutionId, async (tx) => {
    const subjects = await subjectsOf(tx, of);
    return subjects && selectLimitUse(tx, subjects, { day: localDate(now, timeZone), timeZone });
  });
  if (shown === undefined || 'whole' in of) return shown;
  const about =
    'accountId' in of
      ? ({ action: 'account.read', subject: of.accountId } as const)
      : ({ action: 'person.read', userId: of.userId } as const);
  const entry = { ...about, outcome: 'succeeded', reason: 'limits', origin } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  return shown;
}

async function subjectsOf(tx: Queryable, of: LimitsOf): Promise<LimitSubject[] | undefined> {
  const any = { sourceType: null, currency: null };
  if ('whole' in of) return [{ subject: 'STAND_IN', subjectKey: 0n, subjectId: null, ...any }];
  if ('userId' in of) {
    if (!isPublicId(of.userId)) return undefined;
    const rows = await selectUserSubjects(tx, of.userId);
    return rows.length === 0 ? undefined : rows.map((row) => ({ ...row, ...any }));
  }
  const account = isPublicId(of.accountId) ? await selectAccountRow(tx, of.accountId) : undefined;
  if (account === undefined) return undefined;
  const { accountKey, accountId, customerKey, customerId, diAccountType: sourceType, currency } = account;
  const own = { subjectKey: accountKey, subjectId: accountId, sourceType, currency };
  return [
    { subject: 'ACCOUNT', ...own },
    { subject: 'STAND_IN_ACCOUNT', ...own },
    { subject: 'CUSTOMER', subjectKey: customerKey, subjectId: customerId, sourceType, currency },
  ];
}
