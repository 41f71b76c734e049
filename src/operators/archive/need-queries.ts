import type { InstitutionId, Queryable } from '../../storage/index.ts';

/** A reason for which the events of a partition stay. `young` and `full` end by themselves. */
export interface Need {
  readonly institution: InstitutionId;
  readonly need: 'full' | 'young' | 'served' | 'secret' | 'webhook' | 'delivery' | 'alerts' | 'reconcile';
  readonly endpoint: string | null;
}

// For the owner's login.
const needs = {
  name: 'operators_event_partition_needs',
  text: 'select institution, need, endpoint::text as endpoint from event_partition_needs($1, $2)',
};

/** Without days their age is not asked again. */
export async function selectNeeds(db: Queryable, firstKey: bigint, days: number | null): Promise<Need[]> {
  return (await db.query<Need>(needs, [firstKey, days])).rows;
}

const shortLocks = {
  name: 'operators_short_locks',
  text: `select set_config('lock_timeout', '1s', true)`,
};
const lockEndpoints = {
  name: 'operators_lock_endpoints',
  text: 'lock table webhook_endpoints in exclusive mode',
};

/** Nobody waits for longer than a second behind a transaction that waits for its locks. */
export async function waitBriefly(tx: Queryable): Promise<void> {
  await tx.query(shortLocks);
}

/** No endpoint moves meanwhile: a replay sets one back under a lock of its row. */
export async function lockEndpointPositions(tx: Queryable): Promise<void> {
  await tx.query(lockEndpoints);
}
