import { type Check, check, named } from './check.ts';
import { foundColumns } from './finding.ts';

/** The core's transactions and their entries, in both directions. */
export const coreChecks: readonly Check[] = [
  check(
    'accounts',
    'core-entry',
    (within) => `select ${foundColumns({
      row: `format('%s, entry %s', b.account_id, e.seq)`,
      detail: `format('of the core and %s, has no transaction', e.amount)`,
      accountId: 'b.account_id',
      entry: 'e.seq',
      amounts: { expected: 'coalesce(c.amount, 0)', found: 'e.amount', currency: 'b.currency' },
    })}
     from entries e
     ${named('e')}
     join accounts a on a.institution_id = $1 and a.account_key = e.account_key and a.purpose is null
     left join lateral (
       select c.posting_key, c.amount from core_transactions c
       where c.institution_id = $1 and c.account_key = e.account_key and c.seq = e.seq offset 0) c on true
     where ${within('e')} and e.kind = 'CORE' and (e.posting_key, e.amount) is distinct from (c.posting_key, c.amount)`,
  ),
  check(
    'accounts',
    'core-transaction',
    (within) => `select ${foundColumns({
      row: `format('%s, entry %s', b.account_id, c.seq)`,
      detail: `format('core transaction %s of %s does not fit the entry', c.core_id, c.amount)`,
      accountId: 'b.account_id',
      entry: 'c.seq',
      amounts: { expected: 'c.amount', found: 'coalesce(e.amount, 0)', currency: 'b.currency' },
    })}
     from core_transactions c
     ${named('c')}
     left join lateral (
       select e.posting_key, e.amount, e.kind from entries e
       where e.institution_id = $1 and e.account_key = c.account_key and e.seq = c.seq offset 0) e on true
     where ${within('c')}
       and (e.posting_key, e.amount, e.kind)
           is distinct from (c.posting_key, c.amount, case when c.settlement_key is null then 'TRANSFER' else 'CORE' end)`,
  ),
];
