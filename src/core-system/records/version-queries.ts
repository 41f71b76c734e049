import { type Queryable, sql } from '../../storage/index.ts';

/** The time of the newest change of a record, as the core has stated it. */
export interface RecordVersion {
  readonly record: string;
  readonly recordId: string;
  readonly changedAt: Date;
}

const select = sql(
  'core_record_versions',
  `select v.record, v.record_id, v.changed_at
   from (select distinct * from unnest($2::text[], $3::text[]) as g (record, record_id)) as given
   join core_record_versions v on v.institution_id = $1 and v.record = given.record and v.record_id = given.record_id`,
);

export async function selectVersions(
  tx: Queryable,
  keys: readonly Pick<RecordVersion, 'record' | 'recordId'>[],
): Promise<RecordVersion[]> {
  const values = [tx.institutionId, keys.map(({ record }) => record), keys.map(({ recordId }) => recordId)];
  return (await tx.query<RecordVersion>(select, values)).rows;
}

const upsert = sql(
  'core_keep_record_versions',
  `insert into core_record_versions as v (institution_id, record, record_id, changed_at)
   select $1, given.* from unnest($2::text[], $3::text[], $4::timestamptz[]) as given
   on conflict (institution_id, record, record_id) do update set changed_at = excluded.changed_at
   where v.changed_at < excluded.changed_at`,
);

/** Keeps versions; one that stands and is newer stays. */
export async function upsertVersions(tx: Queryable, versions: readonly RecordVersion[]): Promise<void> {
  await tx.query(upsert, [
    tx.institutionId,
    versions.map(({ record }) => record),
    versions.map(({ recordId }) => recordId),
    versions.map(({ changedAt }) => changedAt),
  ]);
}
