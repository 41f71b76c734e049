import { type Directory, type InstitutionId, sql } from '../../storage/index.ts';

/** A key of a cell that an institution came from. */
export interface CellKeyRow {
  readonly institutionId: InstitutionId;
  readonly kid: string;
  readonly publicJwk: object;
  readonly verifiesUntil: Date;
}

const all = sql('auth_cell_keys', 'select institution_id, kid, public_jwk, verifies_until from cell_keys');

export async function selectCellKeys(db: Directory): Promise<CellKeyRow[]> {
  return (await db.query<CellKeyRow>(all)).rows;
}

const removeExpired = sql(
  'auth_delete_expired_cell_keys',
  'delete from cell_keys where verifies_until <= $1',
);

export async function deleteExpiredCellKeys(db: Directory, at: Date): Promise<void> {
  await db.query(removeExpired, [at]);
}

const removeAll = sql('auth_delete_cell_keys', 'delete from cell_keys');

export async function deleteCellKeys(db: Directory): Promise<void> {
  await db.query(removeAll);
}

/* The statements below need the owner's login. */

const visiting = sql(
  'auth_keys_of_institution',
  `select kid, public_jwk from signing_keys
         union all select kid, public_jwk from cell_keys where institution_id = $1 and verifies_until > now()`,
);

/** The keys that may have signed a token of the institution. */
export async function selectKeysOfInstitution(
  db: Directory,
  institutionId: InstitutionId,
): Promise<Pick<CellKeyRow, 'kid' | 'publicJwk'>[]> {
  return (await db.query<Pick<CellKeyRow, 'kid' | 'publicJwk'>>(visiting, [institutionId])).rows;
}

const add = {
  name: 'auth_insert_cell_key',
  text: `insert into cell_keys (institution_id, kid, public_jwk, verifies_until) values ($1, $2, $3, $4)
         on conflict (institution_id, kid) do update set verifies_until = excluded.verifies_until`,
};

export async function insertCellKey(db: Directory, key: CellKeyRow): Promise<void> {
  await db.query(add, [key.institutionId, key.kid, JSON.stringify(key.publicJwk), key.verifiesUntil]);
}
