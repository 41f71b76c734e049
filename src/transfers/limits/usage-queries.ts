import {
  columnsOf,
  counted,
  type InstitutionId,
  inserting,
  type Queryable,
  sql,
  type Write,
} from '../../storage/index.ts';
import type { RecordedUsage } from '../rules/controls/limits.ts';

const usages = sql(
  'transfers_limit_uses',
  `select u.transfer_key, u.limit_key, u.subject_key, u.period_start, u.amount
   from idempotency_keys i
   join limit_uses u on u.institution_id = $1 and u.transfer_key = i.transfer_key
   where i.institution_id = $1 and i.transfer_id = any ($2::text[])`,
);

export async function selectLimitUses(
  db: Queryable,
  transferIds: readonly string[],
): Promise<RecordedUsage[]> {
  return (await db.query<RecordedUsage>(usages, [db.institutionId, transferIds])).rows;
}

export const insertLimitUses = inserting<RecordedUsage>('transfers_add_limit_uses', 'limit_uses', {
  transferKey: 'bigint',
  limitKey: 'integer',
  subjectKey: 'bigint',
  periodStart: 'date',
  amount: 'bigint',
});

const dropUses = counted(
  'transfers_drop_limit_uses',
  'limit_uses',
  'cardinality($2::bigint[])',
  `delete from limit_uses u
   using unnest($2::bigint[], $3::integer[], $4::bigint[]) as v (transfer_key, limit_key, subject_key)
   where u.institution_id = $1 and u.transfer_key = v.transfer_key and u.limit_key = v.limit_key
     and u.subject_key = v.subject_key and u.transfer_key = any ($2::bigint[])`,
);

export function deleteLimitUses(
  institutionId: InstitutionId,
  rows: readonly RecordedUsage[],
): readonly Write[] {
  if (rows.length === 0) return [];
  const columns = columnsOf(rows, 'transferKey', 'limitKey', 'subjectKey');
  return [{ statement: dropUses, values: [institutionId, ...columns] }];
}
