import { countingClassCodes, pendingCodesBelow } from '../ledger/index.ts';
import { type Queryable, sql } from '../storage/index.ts';
import { controlsOfColumn, maxAheadMillis } from '../transfers/index.ts';
import { type Both, both, type Check, check, formFor, named, type Rows } from './check.ts';
import { type FoundRow, foundColumns } from './finding.ts';
import type { FindingKind } from './finding-kinds.ts';

/** PENDING and COMPLETED by their list class, so that an index finds those of a period. */
const counting = `t.list_class = any (${countingClassCodes})
             and t.created_at >= p.starts and t.created_at < p.ends`;

/** Kinds of entries that a transfer orders. */
export const ordered = `('TRANSFER', 'HOLD', 'RELEASE')`;

/** Joins the transfer with this key, if any. */
const transferOf = (key: string) => `
  left join lateral (
    select t.* from transfers t where t.institution_id = $1 and t.transfer_key = ${key} offset 0) t on true`;

interface Held {
  readonly column: 'debits_pending' | 'credits_pending';
  readonly side: 'from_key' | 'to_key';
  /** The account of this side in a core's authorization. */
  readonly authorized: 'account_key' | 'settlement_key';
}

const holdCheck = (name: FindingKind, { column, side, authorized }: Held) =>
  check(
    'accounts',
    name,
    (within) => `select ${foundColumns({
      row: 'max(account_id)',
      detail: `format('${column} is %s, its pending transfers and authorizations add up to %s', sum(held), sum(amount))`,
      accountId: 'max(account_id)',
      amounts: { expected: 'sum(amount)', found: 'sum(held)', currency: 'max(currency)' },
    })}
     from (
       select b.account_key, b.account_id, b.currency, b.${column} as held, 0 as amount from balances b where ${within('b')}
       union all
       select t.${side}, null, null, 0, t.amount from transfers t
       where ${within('t', side)} and t.list_class < ${pendingCodesBelow} and t.status = 'PENDING'
       union all
       select a.${authorized}, null, null, 0, a.held from core_authorizations a
       where ${within('a', authorized)} and a.ended is null
     ) x
     group by account_key having max(account_id) is not null and sum(held) <> sum(amount)`,
  );

const ofEntry = {
  row: `format('%s, entry %s', b.account_id, e.seq)`,
  accountId: 'b.account_id',
  entry: 'e.seq',
} as const;
const ofTransfer = { row: 't.transfer_id', transferId: 't.transfer_id' } as const;

const ofCounter = `format('limit %s of %s %s from %s', limit_key, lower(subject), subject_key, period_start)`;
/** SQL: the account of a counter, if it counts the transfers of one. */
const accountOfCounter = `select b.account_id from balances b
                     where b.institution_id = $1 and subject in ('ACCOUNT', 'STAND_IN_ACCOUNT') and b.account_key = subject_key`;

/** Entries of an account never go back in time; this includes holds, on both accounts. */
export const transferChecks: readonly Check[] = [
  holdCheck('hold-out', { column: 'debits_pending', side: 'from_key', authorized: 'account_key' }),
  holdCheck('hold-in', { column: 'credits_pending', side: 'to_key', authorized: 'settlement_key' }),
  check(
    'accounts',
    'entry-transfer',
    (within) => `select ${foundColumns({
      ...ofEntry,
      detail: `case when t.transfer_key is null then 'belongs to no transfer'
                 else format('of kind %s and %s, at %s, does not fit transfer %s, %s of %s', e.kind, e.amount,
                             e.recorded_at, t.transfer_id, t.status, t.amount) end`,
      transferId: 't.transfer_id',
      amounts: {
        expected: `case when t.transfer_key is null or e.kind <> 'TRANSFER' then 0
                 when e.account_key = t.from_key then -t.amount when e.account_key = t.to_key then t.amount end`,
        found: 'e.amount',
        currency: 'b.currency',
      },
    })}
     from entries e
     ${named('e')}
     ${transferOf('e.posting_key')}
     where ${within('e')} and e.kind in ${ordered}
       and not coalesce(
         case e.kind when 'TRANSFER' then t.status = 'COMPLETED' when 'RELEASE' then t.status = 'FAILED' else true end
         and case e.account_key when t.from_key then e.amount = case e.kind when 'TRANSFER' then -t.amount else 0 end
                                when t.to_key then e.amount = case e.kind when 'TRANSFER' then t.amount else 0 end
             end
         and case when e.kind <> 'HOLD' then e.recorded_at = t.settled_at
                  else e.recorded_at = t.created_at or e.recorded_at > t.created_at and exists (
                    select from entries h
                    join entries p on p.institution_id = $1 and p.account_key = h.account_key and p.seq = h.seq - 1
                      and p.recorded_at = e.recorded_at
                    where h.institution_id = $1 and h.account_key in (t.from_key, t.to_key)
                      and h.posting_key = e.posting_key and h.kind = 'HOLD') end, false)`,
  ),
  check(
    'accounts',
    'entry-held',
    (within) => `select ${foundColumns({
      ...ofEntry,
      detail: `format('of kind %s changes what is held by %s out and %s in', e.kind, e.debits_pending, e.credits_pending)`,
      transferId: 't.transfer_id',
      // An entry that posts ends a hold, or there was none: two changes fit it, so no one amount is expected.
      amounts: {
        expected: `case e.kind when 'HOLD' then t.amount when 'RELEASE' then -t.amount when 'TRANSFER' then null else 0 end`,
        found: `case when e.account_key = t.from_key then e.debits_pending when e.account_key = t.to_key then e.credits_pending
                 when e.debits_pending <> 0 then e.debits_pending else e.credits_pending end`,
        currency: 'b.currency',
      },
    })}
     from (
       select e.*, e.seq - lag(e.seq, 1, 0::bigint) over w as step,
              e.debits_pending_after - lag(e.debits_pending_after, 1, 0::bigint) over w as debits_pending,
              e.credits_pending_after - lag(e.credits_pending_after, 1, 0::bigint) over w as credits_pending
       from entries e
       where ${within('e')}
       window w as (partition by e.account_key order by e.seq)
     ) e
     ${named('e')}
     ${transferOf(`e.posting_key and e.kind in ${ordered}`)}
     where e.step = 1 and e.kind not in ('CORE_HOLD', 'CORE_RELEASE')
       and case when e.account_key = t.from_key then e.credits_pending <> 0 else e.debits_pending <> 0 end
        or e.step = 1 and e.kind not in ('CORE_HOLD', 'CORE_RELEASE')
       and case when e.account_key = t.from_key then e.debits_pending when e.account_key = t.to_key then e.credits_pending
                else e.credits_pending end
           <> all (case e.kind when 'HOLD' then array[t.amount] when 'RELEASE' then array[-t.amount]
                               when 'TRANSFER' then array[0, -t.amount] else array[0::bigint] end)`,
  ),
  check(
    'accounts',
    'transfer-entries',
    (within) => `select ${foundColumns({
      row: 'transfer_id',
      detail: `format('is %s, and its %s has %s entries of it posted, %s held, %s released', status, side, posted, held,
                   released)`,
      accountId: 'account_id',
      transferId: 'transfer_id',
    })}
     from (
       select max(transfer_id) as transfer_id, max(account_id) as account_id, max(status) as status, max(side) as side,
              count(*) filter (where kind = 'TRANSFER') as posted, count(*) filter (where kind = 'HOLD') as held,
              count(*) filter (where kind = 'RELEASE') as released
       from (
         select t.from_key as account_key, t.transfer_key, t.transfer_id, t.from_account_id as account_id, t.status,
                'source' as side, null as kind
         from transfers t where ${within('t', 'from_key')}
         union all
         select t.to_key, t.transfer_key, t.transfer_id, t.to_account_id, t.status, 'destination', null
         from transfers t where ${within('t', 'to_key')}
         union all
         select e.account_key, e.posting_key, null, null, null, null, e.kind
         from entries e where ${within('e')} and e.kind in ${ordered}
       ) x
       group by account_key, transfer_key
     ) x
     where transfer_id is not null and not case status
       when 'COMPLETED' then posted = 1 and held <= 1 and released = 0
       when 'PENDING' then posted = 0 and held = 1 and released = 0
       else posted = 0 and held = released
     end`,
  ),
  check(
    'accounts',
    'loan-payment',
    (within) => `select ${foundColumns({
      row: `format('%s, entry %s', b.account_id, coalesce(p.seq, e.seq))`,
      detail: `case when p.seq is null then 'is a payment whose parts are not kept'
                 when e.seq is null then 'has parts of a payment and is none'
                 else format('moves %s, and its parts add up to %s', e.amount,
                             p.to_fees + p.to_interest + p.to_principal) end`,
      accountId: 'b.account_id',
      entry: 'coalesce(p.seq, e.seq)',
      amounts: {
        expected: 'coalesce(e.amount, 0)',
        found: 'coalesce(p.to_fees + p.to_interest + p.to_principal, 0)',
        currency: 'b.currency',
      },
    })}
     from (select p.* from loan_payments p where ${within('p')}) p
     full join (
       select e.account_key, e.seq, e.amount from entries e
       cross join lateral (
         select from loans l where l.institution_id = $1 and l.account_key = e.account_key offset 0) l
       where ${within('e')} and e.kind = 'TRANSFER'
     ) e using (account_key, seq)
     cross join lateral (
       select b.account_id, b.currency from balances b
       where b.institution_id = $1 and b.account_key = coalesce(p.account_key, e.account_key) offset 0) b
     where e.amount is distinct from p.to_fees + p.to_interest + p.to_principal`,
  ),
  check(
    'accounts',
    'loan-dues',
    (within) => `select ${foundColumns({
      row: 'b.account_id',
      detail: `format('owes %s, less than its interest of %s and fees of %s', -b.posted, l.accrued_interest, l.fees_due)`,
      accountId: 'b.account_id',
      amounts: {
        expected: 'greatest(-b.posted, 0)',
        found: 'l.accrued_interest + l.fees_due',
        currency: 'b.currency',
      },
    })}
     from loans l
     cross join lateral (
       select b.* from balances b where b.institution_id = $1 and b.account_key = l.account_key offset 0) b
     where ${within('l')} and l.accrued_interest + l.fees_due > greatest(-b.posted, 0)`,
  ),
  check(
    'transfers',
    'transfer-id',
    (within) => `select ${foundColumns({
      ...ofTransfer,
      detail: `case when i.transfer_key is null then 'its id is not noted as used'
                 else 'its id is noted as used by another transfer' end`,
    })}
     from transfers t
     left join lateral (
       select i.transfer_key from idempotency_keys i
       where i.institution_id = $1 and i.transfer_id = t.transfer_id offset 0) i on true
     where ${within('t')} and i.transfer_key is distinct from t.transfer_key`,
  ),
  check(
    'transfers',
    'transfer-accounts',
    (within) => `select ${foundColumns({
      ...ofTransfer,
      detail: `format('its %s is not the account that it names', s.side)`,
      accountId: 's.account_id',
    })}
     from transfers t
     cross join lateral (values ('source', t.from_key, t.from_account_id), ('destination', t.to_key, t.to_account_id))
       as s (side, account_key, account_id)
     left join lateral (
       select a.account_id, a.currency from accounts a
       where a.institution_id = $1 and a.account_key = s.account_key offset 0) a on true
     where ${within('t')} and s.account_key is not null
       and (a.account_id is distinct from s.account_id or (t.status <> 'FAILED' and a.currency <> t.currency))`,
  ),
  check(
    'transfers',
    'pending-terms',
    (within) => `select ${foundColumns({
      row: `coalesce(t.transfer_id, format('transfer key %s', p.transfer_key))`,
      detail: `case when p.transfer_key is null then 'is PENDING and waits for nothing'
                 else format('waits, and is %s', coalesce(t.status, 'no transfer')) end`,
      transferId: 't.transfer_id',
    })}
     from (select t.* from transfers t where ${within('t')}) t
     full join (select p.* from pending_transfers p where ${within('p')}) p using (transfer_key)
     where (t.status is not distinct from 'PENDING') <> (p.transfer_key is not null)`,
  ),
  check(
    'transfers',
    'core-instruction',
    (within) => `select ${foundColumns({
      row: `coalesce(t.transfer_id, format('instruction %s', i.sequence))`,
      detail: `case when t.transfer_key is null then 'belongs to no transfer'
                 when i.instruction_key is null then format('is %s, and the core has no instruction of it', t.status)
                 else format('is %s, and its instruction is %s, %s, of %s', t.status, i.mode, i.state, i.amount) end`,
      transferId: 't.transfer_id',
      amounts: { expected: 't.amount', found: 'i.amount', currency: 't.currency' },
    })}
     from (
       select t.*, p.held_for, n.record from transfers t
       cross join lateral (
         select n.record from institutions n where n.institution_id = $1 offset 0) n
       left join lateral (
         select p.held_for from pending_transfers p
         where p.institution_id = $1 and p.transfer_key = t.transfer_key offset 0) p on true
       where ${within('t')}
     ) t
     full join (
       select i.* from core_instructions i
       where ${within('i', 'instruction_key')}
     ) i on i.instruction_key = t.transfer_key
     left join lateral (
       select true as found from transfers r
       where r.institution_id = $1 and r.reverses_key = t.transfer_key and r.reverses_key is not null
         and r.status = 'COMPLETED' offset 0) reversed on true
     left join lateral (
       select o.state from core_instructions o
       where o.institution_id = $1 and o.instruction_key = t.reverses_key offset 0) original on true
     where not coalesce(
       case when i.instruction_key is null then
              t.record = 'ledger' or t.status = 'FAILED' or t.held_for <> 'CORE' or original.state = 'REJECTED'
            else (t.from_key, t.to_key, t.amount, t.currency) = (i.from_key, i.to_key, i.amount, i.currency)
              and case i.state
                    when 'OPEN' then case i.mode when 'WAIT' then t.status = 'PENDING' and t.held_for = 'CORE'
                                                 else t.status = 'COMPLETED' end
                    when 'ACCEPTED' then t.status = 'COMPLETED'
                    when 'WITHDRAWN' then t.status = 'FAILED'
                    else t.status = 'FAILED' or t.reverses_key is not null or reversed.found end
       end, false)`,
  ),
  check(
    'transfers',
    'reversal',
    (within) => `select ${foundColumns({
      ...ofTransfer,
      detail: `'does not take back what it says it does'`,
      amounts: { expected: 'o.amount', found: 't.amount', currency: 't.currency' },
    })}
     from transfers t
     left join lateral (
       select o.* from transfers o
       where o.institution_id = $1 and o.transfer_key = t.reverses_key offset 0) o on true
     where ${within('t')} and t.reverses_key is not null
       and (o.status, o.amount, o.currency, o.from_key, o.to_key)
           is distinct from ('COMPLETED', t.amount, t.currency, t.to_key, t.from_key)`,
  ),
  check(
    'transfers',
    'limit-use',
    (within) => `select ${foundColumns({
      row: `format('%s, limit %s', coalesce(t.transfer_id, format('transfer key %s', u.transfer_key)), u.limit_key)`,
      detail: `format('counted %s', u.amount)`,
      transferId: 't.transfer_id',
      amounts: { expected: 't.amount', found: 'u.amount', currency: 't.currency' },
    })}
     from limit_uses u
     ${transferOf('u.transfer_key')}
     left join lateral (
       select true as found from limit_counters c
       where c.institution_id = $1 and c.limit_key = u.limit_key and c.subject_key = u.subject_key
         and c.period_start = u.period_start offset 0) c on true
     where ${within('u')}
       and (u.amount is distinct from t.amount or c.found is null
            or not (t.status = 'PENDING' or (u.limit_key = 0 and t.status = 'COMPLETED')))`,
  ),
  check(
    'transfers',
    'contribution-use',
    (within) => `select ${foundColumns({
      ...ofTransfer,
      detail: `'is a contribution that counts for no year'`,
      amounts: { expected: 't.amount', found: '0', currency: 't.currency' },
    })}
     from transfers t
     left join lateral (
       select true as found from limit_uses u
       where u.institution_id = $1 and u.transfer_key = t.transfer_key and u.limit_key = 0 offset 0) u on true
     left join lateral (
       select true as found from transfers r
       where r.institution_id = $1 and r.reverses_key = t.transfer_key and r.reverses_key is not null
         and r.status <> 'FAILED' offset 0) r on true
     where ${within('t')} and t.transfer_type = 'IRA_CONTRIBUTION' and t.status <> 'FAILED'
       and t.currency = 'USD' and t.reverses_key is null and u.found is null and r.found is null`,
  ),
  check(
    'ids',
    'used-id',
    `select ${foundColumns({
      row: 'i.transfer_id',
      detail: `'is noted as used by a transfer that has another id, or is not there'`,
      transferId: 'i.transfer_id',
    })}
     from idempotency_keys i
     ${transferOf('i.transfer_key')}
     where i.institution_id = $1 and i.transfer_id > $2::text and i.transfer_id <= $3::text
       and t.transfer_id is distinct from i.transfer_id`,
  ),
  check(
    'counters',
    'limit-counter',
    `with contributed as materialized (
       select u.subject_key, u.period_start, sum(u.amount) as amount, count(*) as transfers
       from limit_uses u where u.institution_id = $1 and u.limit_key = 0
       group by u.subject_key, u.period_start
     ), counted as (
       -- Counters of a limit that has been taken away say nothing any more.
       select c.limit_key, c.subject_key, c.period_start, c.amount, c.transfers, l.subject, l.currency,
              t.amount as sum, t.transfers as count, t.newest
       from limit_counters c
       join institutions i on i.institution_id = c.institution_id
       join transfer_limits l on l.institution_id = c.institution_id and l.limit_key = c.limit_key
         and num_nonnulls(l.max_amount, l.max_count, l.review_above) > 0
       -- About: where clocks are set back to midnight there are two, and which of them is meant is not said. The day decides.
       cross join lateral (values (
         c.period_start::timestamp at time zone i.time_zone - interval '2 hours',
         (c.period_start + case l.period when 'DAY' then interval '1 day' else interval '1 month' end)
           at time zone i.time_zone + interval '2 hours')) as p (starts, ends)
       cross join lateral (
         select coalesce(sum(t.amount), 0) as amount, count(*) as transfers,
                coalesce(sum(t.amount) filter (where t.place <= c.transfers), 0) as newest
         from (
           select t.amount, row_number() over (order by t.created_at desc, t.transfer_key desc) as place
           from (
             select t.* from transfers t
             where l.subject = 'USER' and t.institution_id = $1 and t.user_key = c.subject_key and ${counting}
             union all
             select t.* from transfers t
             where l.subject = 'ACCOUNT' and t.institution_id = $1 and t.from_key = c.subject_key and ${counting}
             union all
             select t.* from accounts a
             cross join lateral (
               select t.* from transfers t
               where t.institution_id = $1 and t.from_key = a.account_key and ${counting} offset 0) t
             where l.subject = 'CUSTOMER' and a.institution_id = $1 and a.customer_key = c.subject_key
             union all
             select t.* from core_instructions s
             cross join lateral (
               select t.* from transfers t
               where t.institution_id = $1 and t.transfer_key = s.instruction_key and ${counting} offset 0) t
             where l.subject in ('STAND_IN', 'STAND_IN_ACCOUNT') and s.institution_id = $1 and s.mode = 'STAND_IN'
               and s.issued_at >= p.starts and s.issued_at < p.ends
               and (l.subject = 'STAND_IN' or s.from_key = c.subject_key)
           ) t
           cross join lateral (
             select a.di_account_type from accounts a
             where a.institution_id = $1 and a.account_key = t.from_key offset 0) a
           where t.reverses_key is null and t.currency = l.currency
             and date_trunc(l.period, t.created_at at time zone i.time_zone)::date = c.period_start
             and (l.transfer_type is null or l.transfer_type = ${controlsOfColumn('t.transfer_type')})
             and (l.source_type is null or l.source_type = a.di_account_type)
         ) t
       ) t
       where c.institution_id = $1 and c.limit_key > 0
         and c.period_start >= case l.period when 'DAY' then ($8::timestamptz at time zone i.time_zone)::date - 1
                                             else date_trunc('month', $8::timestamptz at time zone i.time_zone)::date end
         and (c.limit_key, c.subject_key, c.period_start) > ($2, $3, $4::date)
         and (c.limit_key, c.subject_key, c.period_start) <= ($5, $6, $7::date)
       union all
       -- A year's contributions to IRAs, each kept beside its transfer for as long as it can be taken back.
       select c.limit_key, c.subject_key, c.period_start, c.amount, c.transfers, 'PERSON', 'USD',
              coalesce(u.amount, 0),
              coalesce(u.transfers, 0), null
       from limit_counters c
       left join contributed u using (subject_key, period_start)
       where c.institution_id = $1 and c.limit_key = 0
         and (c.limit_key, c.subject_key, c.period_start) > ($2, $3, $4::date)
         and (c.limit_key, c.subject_key, c.period_start) <= ($5, $6, $7::date)
     )
     select ${foundColumns({
       row: ofCounter,
       detail: `format('counts %s in %s transfers; there are %s in %s', amount, transfers, sum, count)`,
       accountId: accountOfCounter,
       amounts: { expected: 'sum', found: 'amount', currency: 'currency' },
     })}
     from counted n where (amount, transfers::bigint) is distinct from (sum, count)
       -- A limit counts from when it was laid down: in its first period, as many of the newest as it says, and no others.
       and not (transfers <= count and amount is not distinct from newest and not exists (
         select from limit_counters c
         where c.institution_id = $1 and c.limit_key = n.limit_key and c.period_start < n.period_start))`,
  ),
  check(
    'events',
    'event-entry',
    (within) => `select ${foundColumns({
      row: `format('event %s', o.event_key)`,
      detail: `format('%s of %s does not fit entry %s', o.kind, coalesce(t.transfer_id, 'no transfer'), s.seq)`,
      accountId: `select b.account_id from balances b where b.institution_id = $1 and b.account_key = s.account_key`,
      entry: 's.seq',
      transferId: 't.transfer_id',
    })}
     from outbox o
     cross join lateral (values (o.from_key, o.from_seq), (o.to_key, o.to_seq)) as s (account_key, seq)
     ${transferOf('o.subject_key')}
     left join lateral (
       select e.posting_key, e.kind from entries e
       where e.institution_id = $1 and e.account_key = s.account_key and e.seq = s.seq offset 0) e on true
     where ${within('o')} and o.kind like 'transfer.%'
       and s.seq is not null
       and (e.posting_key, e.kind) is distinct from (o.subject_key, case o.kind
             when 'transfer.pending' then 'HOLD' when 'transfer.completed' then 'TRANSFER' else 'RELEASE' end)`,
  ),
  check(
    'events',
    'event-transfer',
    (within) => `select ${foundColumns({
      row: `format('event %s', o.event_key)`,
      detail: `format('%s is told of %s', o.kind, coalesce(t.transfer_id || ', which is ' || t.status, 'no transfer'))`,
      transferId: 't.transfer_id',
    })}
     from outbox o
     ${transferOf('o.subject_key')}
     where ${within('o')} and o.kind like 'transfer.%'
       and not coalesce(case o.kind when 'transfer.completed' then t.status = 'COMPLETED'
                                    when 'transfer.failed' then t.status = 'FAILED' else true end
                        and t.transfer_key is not null, false)`,
  ),
];

/** The end of the next chunk, null at the last one. Chunks of accounts are measured in entries, others in rows. */
export const bounds = {
  accounts: sql(
    'check_next_accounts',
    `select max(account_key)::text as bound, count(*) as rows from (
       select k.account_key, row_number() over w as place, sum(1 + coalesce(b.seq, 0)) over w as weight
       from (
         select account_key from accounts where institution_id = $1 and account_key > $2
         union select account_key from balances where institution_id = $1 and account_key > $2
         order by account_key limit $3
       ) k
       left join balances b on b.institution_id = $1 and b.account_key = k.account_key
       window w as (order by k.account_key)
     ) k where place = 1 or weight <= $3`,
  ),
  transfers: sql(
    'check_next_transfers',
    `select max(transfer_key)::text as bound, count(*) as rows from (
       select transfer_key from transfers where institution_id = $1 and transfer_key > $2
       order by transfer_key limit $3) k`,
  ),
  ids: sql(
    'check_next_ids',
    `select max(transfer_id) as bound, count(*) as rows from (
       select transfer_id from idempotency_keys where institution_id = $1 and transfer_id > $2::text
       order by transfer_id limit $3) k`,
  ),
  events: sql(
    'check_next_events',
    `select max(event_key)::text as bound, count(*) as rows from (
       select event_key from outbox where institution_id = $1 and event_key > $2
       order by event_key limit $3) k`,
  ),
} as const;

const counterBound = sql(
  'check_next_counters',
  `select limit_key, subject_key, period_start, count from (
     select limit_key, subject_key, period_start, count(*) over () as count,
            row_number() over (order by limit_key, subject_key, period_start) as place
     from (
       select limit_key, subject_key, period_start from limit_counters
       where institution_id = $1 and (limit_key, subject_key, period_start) > ($2, $3, $4::date)
         and (limit_key = 0 or period_start >= date_trunc('month', $6::timestamptz)::date - 1)
       order by limit_key, subject_key, period_start limit $5) c
   ) c where place = count`,
);

export type CounterKey = readonly [limitKey: number, subjectKey: bigint, periodStart: string];

/** Counters of periods that ended before it are left out. */
export type Since = Date | '-infinity';

export async function selectCounterBound(
  db: Queryable,
  { after, since, most }: { readonly after: CounterKey; readonly since: Since; readonly most: number },
): Promise<{ readonly bound: CounterKey; readonly rows: number } | undefined> {
  const { rows } = await db.query<{
    limitKey: number;
    subjectKey: bigint;
    periodStart: string;
    count: bigint;
  }>(counterBound, [db.institutionId, ...after, most, since]);
  const row = rows[0];
  return row && { bound: [row.limitKey, row.subjectKey, row.periodStart], rows: Number(row.count) };
}

// Transfers may precede the limit within its first period, and ended periods no longer bind.
const uncounted = both(
  'transfers',
  'check_uncounted',
  (within) => `with limits as materialized (
     select l.*, p.binding from transfer_limits l
     join institutions i on i.institution_id = $1
     cross join lateral (
       select date_trunc(l.period, $4::timestamptz at time zone i.time_zone)::date as binding) p
     where l.institution_id = $1 and num_nonnulls(l.max_amount, l.max_count, l.review_above) > 0
       and exists (select from limit_counters c where c.institution_id = $1 and c.limit_key = l.limit_key
                     and c.period_start < p.binding)
   )
   select ${foundColumns({
     row: ofCounter,
     detail: `format('has no counter; there are %s in %s transfers', sum(amount), count(*))`,
     accountId: accountOfCounter,
     amounts: { expected: 'sum(amount)', found: '0', currency: 'max(currency)' },
   })}
   from (
     select l.limit_key, l.subject, s.subject_key, s.period_start, t.currency, t.amount
     from transfers t
     join institutions i on i.institution_id = $1
     cross join lateral (
       select a.customer_key, a.di_account_type from accounts a
       where a.institution_id = $1 and a.account_key = t.from_key offset 0) a
     join limits l on l.currency = t.currency and (l.transfer_type is null or l.transfer_type = ${controlsOfColumn('t.transfer_type')})
       and (l.source_type is null or l.source_type = a.di_account_type)
     cross join lateral (
       select case l.subject
                when 'USER' then t.user_key when 'ACCOUNT' then t.from_key when 'CUSTOMER' then a.customer_key
                else (select case l.subject when 'STAND_IN' then 0 else t.from_key end from core_instructions i
                      where i.institution_id = $1 and i.instruction_key = t.transfer_key and i.mode = 'STAND_IN')
              end as subject_key,
              date_trunc(l.period, t.created_at at time zone i.time_zone)::date as period_start) s
     left join lateral (
       select true as found from limit_counters c
       where c.institution_id = $1 and c.limit_key = l.limit_key and c.subject_key = s.subject_key
         and c.period_start = s.period_start offset 0) c on true
     where ${within('t')} and t.status <> 'FAILED' and t.reverses_key is null
       and t.created_at > $4::timestamptz - interval '32 days'
       and s.subject_key is not null and s.period_start = l.binding and c.found is null
   ) x
   group by limit_key, subject, subject_key, period_start`,
);

/** Missing counters of current periods for these transfers. */
export function selectUncounted(db: Queryable, rows: Rows, at: Date): Promise<FoundRow[]> {
  return selectOf(db, uncounted, rows, at);
}

async function selectOf<Row extends object>(
  db: Queryable,
  statements: Both,
  rows: Rows,
  ...more: readonly unknown[]
): Promise<Row[]> {
  const form = formFor(db.institutionId, statements, rows);
  return (await db.query<Row>(form.statement, [...form.values, ...more])).rows;
}

const ahead = both(
  'accounts',
  'check_ahead_of_clock',
  (within) => `select ${foundColumns({
    row: 'b.account_id',
    detail: `format('has seen %s, which is %s seconds ahead of the clock', b.last_at,
                 extract(epoch from b.last_at - $4::timestamptz)::bigint)`,
    accountId: 'b.account_id',
    entry: 'nullif(b.seq, 0)',
  })}
   from balances b
   where ${within('b')} and b.last_at > $4::timestamptz + $5::integer * interval '1 millisecond'`,
);

/** Those of these accounts that are ahead of the clock, written by a process with a clock ahead. */
export function selectAhead(db: Queryable, rows: Rows, at: Date): Promise<FoundRow[]> {
  return selectOf(db, ahead, rows, at, maxAheadMillis);
}

const toldEntries = sql(
  'check_told_entries',
  `select b.account_key, b.account_id, b.seq,
          (select count(*) from entries e where e.institution_id = $1 and e.account_key = b.account_key
             and e.kind in ${ordered}) - coalesce(a.entries, 0) as entries,
          ((select coalesce(sum(e.seq), 0) from entries e where e.institution_id = $1
             and e.account_key = b.account_key and e.kind in ${ordered}) - coalesce(a.seq_sum, 0))::text as sum,
          (select coalesce(sum(e.amount::numeric * hashint8extended(e.posting_key, 0)), 0)::text from entries e
             where e.institution_id = $1 and e.account_key = b.account_key and e.kind not in ${ordered}) as weight
   from balances b
   left join lateral (
     select a.entries, a.seq_sum from event_archived_entries a
     where a.institution_id = $1 and a.account_key = b.account_key offset 0) a on true
   where b.institution_id = $1 and b.account_key > $2 and b.account_key <= $3`,
);

/**
 * Per account of the range: the number of entries that need an event in the feed, and the sum of their numbers; and a weighted sum of
 * the amounts that no transfer ordered, which is 0 over both sides of each posting.
 */
export async function selectToldEntries(db: Queryable, after: string, upTo: string) {
  const { rows } = await db.query<{
    accountKey: bigint;
    accountId: string;
    seq: bigint;
    entries: bigint;
    sum: string;
    weight: string;
  }>(toldEntries, [db.institutionId, after, upTo]);
  return rows.map((row) => ({ ...row, sum: BigInt(row.sum), weight: BigInt(row.weight) }));
}

/** The most rows named for one kind of finding; another line reports that there are more. */
export const namedOfOneKind = 100;

const oneSided = sql(
  'check_one_sided_postings',
  `select p.posting_key, p.sum::text as sum, p.first[2] as seq, b.account_id, b.currency
   from (
     select e.posting_key, sum(e.amount) as sum, min(array[e.account_key, e.seq]) as first from entries e
     where e.institution_id = $1 and e.kind not in ${ordered}
     group by e.posting_key having sum(e.amount) <> 0
     order by e.posting_key limit ${namedOfOneKind + 1}) p
   left join lateral (
     select b.account_id, b.currency from balances b
     where b.institution_id = $1 and b.account_key = p.first[1] offset 0) b on true
   order by p.posting_key`,
);

/** A posting with one of its entries. Its account is null if it has no balance. */
export interface OneSidedPosting {
  readonly postingKey: bigint;
  readonly sum: string;
  readonly seq: bigint;
  readonly accountId: string | null;
  readonly currency: string | null;
}

/** Openings and adjustments that do not sum to zero. Reads every entry, so it runs only if the weighted sum is off. */
export async function selectOneSidedPostings(db: Queryable): Promise<OneSidedPosting[]> {
  return (await db.query<OneSidedPosting>(oneSided, [db.institutionId])).rows;
}

const toldIn = both(
  'events',
  'check_told_in_events',
  (within) => `select s.account_key, s.seq
   from outbox o
   cross join lateral (values (o.from_key, o.from_seq), (o.to_key, o.to_seq)) as s (account_key, seq)
   where ${within('o')} and o.kind like 'transfer.%'
     and s.seq is not null`,
);

/** The entries named by these events. Those of openings and adjustments are not expected, and ignored. */
export function selectToldInEvents(
  db: Queryable,
  rows: Rows,
): Promise<{ accountKey: bigint; seq: bigint }[]> {
  return selectOf(db, toldIn, rows);
}

const untold = sql(
  'check_untold_entries',
  `select seq, sum(events)::bigint as events
   from (
     select o.from_seq as seq, 1 as events, false as expected from outbox o
     where o.institution_id = $1 and o.from_key = $2
     union all
     select o.to_seq, 1, false from outbox o where o.institution_id = $1 and o.to_key = $2
     union all
     select e.seq, 0, true from entries e
     where e.institution_id = $1 and e.account_key = $2 and e.seq <= $3 and e.kind in ${ordered}
   ) x
   group by seq having bool_or(expected) and sum(events) <> 1
     -- Entries of an account get their events in the order of their numbers. Those up to the last one in the archive have theirs there.
     and not (sum(events) = 0 and seq <= coalesce((
       select a.last_seq from event_archived_entries a where a.institution_id = $1 and a.account_key = $2), 0))
   order by seq limit ${namedOfOneKind + 1}`,
);

/** The account's entries with no event, or with several. */
export async function selectUntoldEntries(
  db: Queryable,
  accountKey: bigint,
  upTo: bigint,
): Promise<{ seq: bigint; events: bigint }[]> {
  return (await db.query<{ seq: bigint; events: bigint }>(untold, [db.institutionId, accountKey, upTo])).rows;
}
