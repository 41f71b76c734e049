import { type Check, check, named, type Within } from './check.ts';
import { foundColumns } from './finding.ts';

/** The entries of the range, each with the one before it on its account. */
const chained = (within: Within) => `
  select e.*, lag(e.seq, 1, 0::bigint) over w as seq_before,
         lag(e.posted_after, 1, 0::bigint) over w as posted_before, lag(e.recorded_at) over w as recorded_before
  from entries e
  where ${within('e')}
  window w as (partition by e.account_key order by e.seq)`;

const ofEntry = {
  row: `format('%s, entry %s', account_id, seq)`,
  accountId: 'account_id',
  entry: 'seq',
} as const;

export const ledgerChecks: readonly Check[] = [
  check(
    'whole',
    'trial-balance',
    `select ${foundColumns({
      row: 'b.currency',
      detail: `format('all balances add up to %s, not to 0', sum(b.posted))`,
      amounts: { expected: '0', found: 'sum(b.posted)', currency: 'b.currency' },
    })}
     from balances b where b.institution_id = $1
     group by b.currency having sum(b.posted) <> 0`,
  ),
  check(
    'accounts',
    'account-balance',
    (within) => `select ${foundColumns({
      row: 'coalesce(a.account_id, b.account_id)',
      detail: `case when a.account_key is null then 'has a balance and is no account'
                 when b.account_key is null then 'has no balance'
                 else format('its balance is kept as %s in %s', b.account_id, b.currency) end`,
      accountId: 'coalesce(a.account_id, b.account_id)',
    })}
     from (select * from accounts a where ${within('a')}) a
     full join (select * from balances b where ${within('b')}) b using (account_key)
     where (a.account_id, a.currency) is distinct from (b.account_id, b.currency)`,
  ),
  check(
    'accounts',
    'balance-posted',
    (within) => `select ${foundColumns({
      row: 'max(account_id)',
      detail: `format('posted is %s, its entries add up to %s', sum(posted), sum(amount))`,
      accountId: 'max(account_id)',
      amounts: { expected: 'sum(amount)', found: 'sum(posted)', currency: 'max(currency)' },
    })}
     from (
       select b.account_key, b.account_id, b.currency, b.posted, 0 as amount from balances b where ${within('b')}
       union all
       select e.account_key, null, null, 0, e.amount from entries e where ${within('e')}
     ) x
     group by account_key having max(account_id) is not null and sum(posted) <> sum(amount)`,
  ),
  check(
    'accounts',
    'balance-newest-entry',
    (within) => `select ${foundColumns({
      row: 'b.account_id',
      detail: `format('stands at entry %s, held %s out and %s in, at %s; its newest entry says %s, %s, %s, %s',
                   b.seq, b.debits_pending, b.credits_pending, b.last_at, e.seq, e.debits_pending, e.credits_pending, e.recorded_at)`,
      accountId: 'b.account_id',
      entry: 'nullif(e.seq, 0)',
      amounts: {
        expected:
          'case when b.debits_pending <> e.debits_pending then e.debits_pending else e.credits_pending end',
        found:
          'case when b.debits_pending <> e.debits_pending then b.debits_pending else b.credits_pending end',
        currency: 'b.currency',
      },
    })}
     from balances b
     cross join lateral (
       select coalesce(max(n.seq), 0) as seq, coalesce(max(n.debits_pending_after), 0) as debits_pending,
              coalesce(max(n.credits_pending_after), 0) as credits_pending, coalesce(max(n.recorded_at), b.last_at) as recorded_at
       from (select * from entries e where e.institution_id = b.institution_id and e.account_key = b.account_key
             order by e.seq desc limit 1) n) e
     where ${within('b')}
       and (b.seq, b.debits_pending, b.credits_pending, b.last_at)
           is distinct from (e.seq, e.debits_pending, e.credits_pending, e.recorded_at)`,
  ),
  check(
    'accounts',
    'entry-of-no-account',
    (within) => `select ${foundColumns({
      row: `format('account key %s', e.account_key)`,
      detail: `format('has %s entries', count(*))`,
    })}
     from entries e
     left join lateral (
       select true as found from balances b
       where b.institution_id = $1 and b.account_key = e.account_key offset 0) b on true
     where ${within('e')} and b.found is null
     group by e.account_key`,
  ),
  check(
    'accounts',
    'entry-gap',
    (within) => `select ${foundColumns({ ...ofEntry, detail: `format('follows entry %s', seq_before)` })}
     from (${chained(within)}) e ${named('e')} where seq <> seq_before + 1`,
  ),
  check(
    'accounts',
    'entry-running-balance',
    (within) => `select ${foundColumns({
      ...ofEntry,
      detail: `format('leaves %s, after %s and %s', posted_after, posted_before, amount)`,
      amounts: {
        expected: 'posted_before::numeric + amount',
        found: 'posted_after',
        currency: 'currency',
      },
    })}
     from (${chained(within)}) e ${named('e')} where seq = seq_before + 1 and posted_after <> posted_before + amount`,
  ),
  check(
    'accounts',
    'entry-time',
    (within) => `select ${foundColumns({
      ...ofEntry,
      detail: `format('of %s, before the one before it, of %s', recorded_at, recorded_before)`,
    })}
     from (${chained(within)}) e ${named('e')} where recorded_at < recorded_before`,
  ),
];
