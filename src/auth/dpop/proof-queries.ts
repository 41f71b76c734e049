import { type Queryable, sql } from '../../storage/index.ts';

const record = sql(
  'auth_record_dpop_proofs',
  `insert into dpop_proofs (institution_id, proof_hash, expires_at)
   select $1, proof_hash, expires_at from unnest($2::bytea[], $3::timestamptz[]) as used (proof_hash, expires_at)
   on conflict do nothing
   returning proof_hash`,
);

export interface UsedProof {
  /** 32 bytes over the key's thumbprint and the proof's `jti`. */
  readonly proofHash: Buffer;
  readonly expiresAt: Date;
}

/** The hashes that no process has recorded before. The proofs are in the order of their hashes, so that processes do not wait for each other. */
export async function recordProofs(db: Queryable, used: readonly UsedProof[]): Promise<Buffer[]> {
  const values = [
    db.institutionId,
    used.map(({ proofHash }) => proofHash),
    used.map(({ expiresAt }) => expiresAt),
  ];
  const { rows } = await db.query<{ proofHash: Buffer }>(record, values);
  return rows.map(({ proofHash }) => proofHash);
}

const deleteExpired = sql(
  'auth_delete_expired_dpop_proofs',
  'delete from dpop_proofs where institution_id = $1 and expires_at <= $2',
);

export async function deleteExpiredProofs(db: Queryable, now: Date): Promise<void> {
  await db.query(deleteExpired, [db.institutionId, now]);
}
