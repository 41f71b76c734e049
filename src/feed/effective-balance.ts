import { accountBalances, type Balances, findAccount } from '../accounts/index.ts';
import {
  type Actor,
  addDays,
  type Institution,
  instantOf,
  type LocalDate,
  localDate,
} from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import { type InstitutionId, type Queryable, type Reads, sql } from '../storage/index.ts';

export interface EffectiveBalances extends Balances {
  /** The balances are those at the end of this business day. */
  readonly effectiveDate: LocalDate;
}

/**
 * Returns the balances of an account at the end of a business day by effective dates: a transaction of the core, and a transfer that
 * the core has posted, count from their effective date on, whenever they arrived; everything else from the day of its entry. Holds
 * have no effective date and are not in the available balance. The figures of a past day change when a late transaction arrives (ADR 34).
 *
 * Throws Problem `not_found` like `getBalances`, and `invalid_request` for a day in the future or before the account's first.
 */
export async function getEffectiveBalances(
  deps: {
    readonly database: Reads;
    readonly now: Date;
    readonly institution: (institutionId: InstitutionId) => Promise<Pick<Institution, 'timeZone'>>;
  },
  actor: Actor,
  accountId: string,
  effectiveDate: LocalDate,
): Promise<EffectiveBalances> {
  const { database, now, institution } = deps;
  const { timeZone } = await institution(actor.institutionId);
  if (effectiveDate > localDate(now, timeZone)) throw outside('Must not be in the future.');
  return database.read(actor.institutionId, async (db) => {
    const account = await findAccount(db, actor, accountId);
    if (account === undefined) throw new Problem('not_found', 'There is no such account.');
    const { accountKey, category, currency, creditLimit } = account;
    const dayEnds = instantOf(addDays(effectiveDate, 1), '00:00', timeZone);
    const posted = await selectEffectiveBalance(db, { accountKey, dayEnds, effectiveDate });
    if (posted === undefined) throw outside('Must not be before the account’s first entry.');
    const figures = { posted, debitsPending: 0n, accruedInterest: 0n, feesDue: 0n };
    const balances = accountBalances({ ...figures, category, creditLimit });
    return { accountId, asOf: now, effectiveDate, currency, ...balances };
  });
}

/*
 * The balance by arrival at the end of the day, with what arrived later, without what is effective later. Both sums read an index of
 * the account from the day on. An opening balance is that before the first transaction, so it counts from the first day on.
 */
const effective = sql(
  'accounts_effective_balance',
  `select coalesce(latest.posted_after, opening.amount, 0)
          + (select coalesce(sum(c.amount), 0) from core_transactions c
             where c.institution_id = $1 and c.account_key = $2 and c.seq > n.seq)
          - (select coalesce(sum(c.amount), 0) from core_transactions c
             where c.institution_id = $1 and c.account_key = $2 and c.effective_date > $4::date) as posted
   from balances b
   cross join lateral (select entries_before($1, $2, $3) as seq offset 0) n
   left join entries latest on latest.institution_id = $1 and latest.account_key = $2 and latest.seq = n.seq
   left join entries opening on opening.institution_id = $1 and opening.account_key = $2 and opening.seq = 1
     and opening.kind = 'OPENING'
   where b.institution_id = $1 and b.account_key = $2
     and (n.seq > 0 or b.seq = 0 and b.last_at < $3
          or exists (select from core_transactions c
                     where c.institution_id = $1 and c.account_key = $2 and c.effective_date <= $4::date))`,
);

async function selectEffectiveBalance(
  db: Queryable,
  of: { readonly accountKey: bigint; readonly dayEnds: Date; readonly effectiveDate: LocalDate },
): Promise<bigint | undefined> {
  const { rows } = await db.query<{ readonly posted: bigint | string }>(effective, [
    db.institutionId,
    of.accountKey,
    of.dayEnds,
    of.effectiveDate,
  ]);
  const [row] = rows;
  return row && BigInt(row.posted);
}

function outside(detail: string): Problem {
  return new Problem('invalid_request', 'The account has no balance on that day.', {
    errors: [{ pointer: 'effectiveDate', detail }],
  });
}
