import { type Directory, type Queryable, sql } from '../../storage/index.ts';
import type { Chain } from './canonical.ts';

/** A signing key of anchors. Keys belong to the service, not to an institution. */
export interface AuditKeyRow {
  readonly keyId: string;
  readonly publicKey: string;
  readonly sealedPrivateKey: Uint8Array;
}

const keys = sql(
  'events_audit_keys',
  'select key_id, public_key, sealed_private_key from audit_keys order by created_at desc, key_id',
);

/** The newest first. */
export async function selectAuditKeys(db: Directory): Promise<AuditKeyRow[]> {
  return (await db.query<AuditKeyRow>(keys)).rows;
}

const newKey = sql(
  'events_insert_audit_key',
  'insert into audit_keys (key_id, public_key, sealed_private_key, created_at) values ($1, $2, $3, $4)',
);

export async function insertAuditKey(db: Directory, key: AuditKeyRow, at: Date): Promise<void> {
  await db.query(newKey, [key.keyId, key.publicKey, Buffer.from(key.sealedPrivateKey), at]);
}

const resealKey = sql(
  'events_reseal_audit_key',
  'update audit_keys set sealed_private_key = $2 where key_id = $1',
);

export async function updateAuditKey(db: Directory, keyId: string, sealed: Uint8Array): Promise<void> {
  await db.query(resealKey, [keyId, Buffer.from(sealed)]);
}

/** A signed statement of the hash at a number of a chain. */
export interface AnchorRow {
  readonly chain: Chain;
  readonly number: number;
  readonly hash: Buffer;
  readonly signedAt: Date;
  readonly jws: string;
}

const newAnchor = sql(
  'events_insert_anchor',
  `insert into audit_anchors (institution_id, chain, number, hash, signed_at, jws) values ($1, $2, $3, $4, $5, $6)
   on conflict do nothing`,
);

export async function insertAnchor(db: Queryable, anchor: AnchorRow): Promise<void> {
  const { chain, number, hash, signedAt, jws } = anchor;
  await db.query(newAnchor, [db.institutionId, chain, number, hash, signedAt, jws]);
}

const anchors = sql(
  'events_anchors',
  `select chain, number, hash, signed_at, jws from audit_anchors
   where institution_id = $1 and chain = $2 and number >= $3 and number <= $4 order by number`,
);

type Stored = Omit<AnchorRow, 'number'> & { readonly number: bigint };

export async function selectAnchors(
  db: Queryable,
  chain: Chain,
  from: number,
  to: number,
): Promise<AnchorRow[]> {
  const { rows } = await db.query<Stored>(anchors, [db.institutionId, chain, from, to]);
  return rows.map((row) => ({ ...row, number: Number(row.number) }));
}

const newest = sql(
  'events_newest_anchor',
  `select chain, number, hash, signed_at, jws from audit_anchors
   where institution_id = $1 and chain = $2 order by number desc limit 1`,
);

export async function selectNewestAnchor(db: Queryable, chain: Chain): Promise<AnchorRow | undefined> {
  const { rows } = await db.query<Stored>(newest, [db.institutionId, chain]);
  return rows[0] && { ...rows[0], number: Number(rows[0].number) };
}
