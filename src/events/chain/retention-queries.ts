import { type Queryable, sql } from '../../storage/index.ts';
import type { Chain } from './canonical.ts';

/** Days for which an institution keeps its audit, by chain. */
export interface AuditRetention {
  readonly accessDays: number;
  readonly changesDays: number;
}

const retention = sql(
  'events_audit_retention',
  'select access_days, changes_days from audit_retention where institution_id = $1',
);

export async function selectRetention(db: Queryable): Promise<AuditRetention | undefined> {
  return (await db.query<AuditRetention>(retention, [db.institutionId])).rows[0];
}

const save = sql(
  'events_save_audit_retention',
  `insert into audit_retention (institution_id, access_days, changes_days) values ($1, $2, $3)
   on conflict (institution_id) do update set access_days = excluded.access_days, changes_days = excluded.changes_days`,
);

export async function upsertRetention(tx: Queryable, kept: AuditRetention): Promise<void> {
  await tx.query(save, [tx.institutionId, kept.accessDays, kept.changesDays]);
}

const oldest = sql(
  'events_oldest_sealed_audit',
  `select recorded_at from audit_entries
   where institution_id = $1 and chain = $2 and chain_number is not null and chain_number > $3
   order by chain_number limit 1`,
);

export async function selectOldestSealed(
  db: Queryable,
  chain: Chain,
  after: number,
): Promise<Date | undefined> {
  const { rows } = await db.query<{ recordedAt: Date }>(oldest, [db.institutionId, chain, after]);
  return rows[0]?.recordedAt;
}

const stretch = sql(
  'events_prunable_audit',
  `select e.chain_number as number, coalesce(e.chain_hash, '') as hash from audit_entries e
   where e.institution_id = $1 and e.chain = $2 and e.chain_number = (
     select coalesce(min(o.chain_number) filter (where o.recorded_at >= $4) - 1, max(o.chain_number))
     from (select s.chain_number, s.recorded_at from audit_entries s
           where s.institution_id = $1 and s.chain = $2 and s.chain_number is not null and s.chain_number > $3
           order by s.chain_number limit $5) o)`,
);

/** The last entry before the first one that must stay, among the next `most` entries. */
export async function selectPrunable(
  db: Queryable,
  { chain, after, keptFrom, most }: { chain: Chain; after: number; keptFrom: Date; most: number },
): Promise<{ readonly number: number; readonly hash: Buffer } | undefined> {
  const values = [db.institutionId, chain, after, keptFrom, most];
  const { rows } = await db.query<{ number: bigint; hash: Buffer }>(stretch, values);
  const [row] = rows;
  return row && Number(row.number) > after ? { number: Number(row.number), hash: row.hash } : undefined;
}

const prune = sql('events_prune_audit', 'select prune_audit_chain($1, $2)');

export async function pruneTo(tx: Queryable, chain: Chain, number: number): Promise<void> {
  await tx.query(prune, [chain, number]);
}

const remove = sql('events_delete_pruned_audit', 'select delete_pruned_audit($1) as gone');

export async function deletePruned(db: Queryable, most: number): Promise<number> {
  const { rows } = await db.query<{ gone: bigint }>(remove, [most]);
  return Number(rows[0]?.gone ?? 0n);
}
