import { type Directory, type InstitutionId, sql } from '../storage/index.ts';

/* Statements of the directory's own database (sql/directory). Their names begin with directory_, by which tests tell them apart. */

export interface DirectoryCell {
  readonly name: string;
  /** Like http://10.0.0.7:8080, inside the network. */
  readonly address: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly state: 'serving' | 'out';
  /** The version of its program, and the newest migration of its database. */
  readonly program: string;
  readonly schemaVersion: number;
  readonly publicUrl: string;
  /** Equal for cells of one SECRET_KEY. */
  readonly fingerprint: Uint8Array;
}

const allCells = sql(
  'directory_cells',
  `select name, address, first_number, last_number, state, program, schema_version, public_url, fingerprint
   from directory_cells order by name`,
);

export async function selectCells(db: Directory): Promise<DirectoryCell[]> {
  return (await db.query<DirectoryCell>(allCells)).rows;
}

/** A cell's settings that all cells of one directory have alike. */
export type CommonSettings = Pick<DirectoryCell, 'name' | 'publicUrl' | 'fingerprint'>;

const unlikeCells = sql(
  'directory_unlike_cells',
  `select name, public_url, fingerprint from directory_cells
   order by name <> $1, (public_url, fingerprint) = ($2::text, $3::bytea), name limit 2`,
);

/** The row of this cell first, if there is one, then that of another cell: one with other settings, if there is one. */
export async function selectUnlikeCells(db: Directory, own: CommonSettings): Promise<CommonSettings[]> {
  return (await db.query<CommonSettings>(unlikeCells, [own.name, own.publicUrl, own.fingerprint])).rows;
}

const storeCell = sql(
  'directory_store_cell',
  `insert into directory_cells as c
     (name, address, first_number, last_number, program, schema_version, public_url, fingerprint, changed_at)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (name) do update
   set address = excluded.address, first_number = excluded.first_number, last_number = excluded.last_number,
       program = excluded.program, schema_version = excluded.schema_version, public_url = excluded.public_url,
       fingerprint = excluded.fingerprint, changed_at = excluded.changed_at
   where (c.address, c.first_number, c.last_number, c.program, c.schema_version, c.public_url, c.fingerprint)
     is distinct from (excluded.address, excluded.first_number, excluded.last_number, excluded.program,
                       excluded.schema_version, excluded.public_url, excluded.fingerprint)`,
);

/** Adds the cell, or changes it if something differs. */
export async function upsertCell(db: Directory, cell: Omit<DirectoryCell, 'state'>, at: Date): Promise<void> {
  const { name, address, firstNumber, lastNumber, program, schemaVersion, publicUrl, fingerprint } = cell;
  const values = [name, address, firstNumber, lastNumber, program, schemaVersion, publicUrl, fingerprint, at];
  await db.query(storeCell, values);
}

const storeVersion = sql(
  'directory_store_version',
  `update directory_cells set program = $2, schema_version = $3, changed_at = $4
   where name = $1 and (program, schema_version) is distinct from ($2, $3)`,
);

export async function updateVersion(
  db: Directory,
  { name, program, schemaVersion }: Pick<DirectoryCell, 'name' | 'program' | 'schemaVersion'>,
  at: Date,
): Promise<void> {
  await db.query(storeVersion, [name, program, schemaVersion, at]);
}

const storeState = sql(
  'directory_store_state',
  'update directory_cells set state = $2, changed_at = $3 where name = $1',
);

/** False: there is no such cell. */
export async function updateState(
  db: Directory,
  { name, state }: Pick<DirectoryCell, 'name' | 'state'>,
  at: Date,
): Promise<boolean> {
  return (await db.query(storeState, [name, state, at])).rowCount === 1;
}

/** An institution, with the cell that serves it. */
export interface Place {
  readonly institutionId: InstitutionId;
  readonly code: string;
  readonly cell: string;
  /** How often it has changed its cell. */
  readonly moves: number;
  readonly address: string;
  readonly state: 'serving' | 'out';
}

const place = 'select i.institution_id, i.code, i.cell, i.moves, c.address, c.state';
const placed = 'directory_institutions i join directory_cells c on c.name = i.cell';
const byInstitution = sql('directory_by_institution', `${place} from ${placed} where i.institution_id = $1`);
const byCode = sql('directory_by_code', `${place} from ${placed} where i.code = $1`);
const byClient = sql(
  'directory_by_client',
  `${place} from directory_clients k join ${placed} on i.institution_id = k.institution_id where k.client_id = $1`,
);
const byHost = sql(
  'directory_by_host',
  `${place} from directory_hosts h join ${placed} on i.institution_id = h.institution_id where h.host = $1`,
);
const byIssuer = sql(
  'directory_by_issuer',
  `${place} from ${placed}
   where i.institution_id in (select p.institution_id from directory_providers p where p.issuer = $1)
   order by i.institution_id limit 2`,
);

/** A fact of a request by which its institution is known. */
export type Clue =
  | { readonly kind: 'institution'; readonly institutionId: InstitutionId }
  | { readonly kind: 'client'; readonly clientId: string }
  | { readonly kind: 'issuer'; readonly issuer: string }
  | { readonly kind: 'host'; readonly host: string };

/** Undefined for an unknown name, and for an issuer that several institutions registered. */
export async function selectPlace(db: Directory, clue: Clue): Promise<Place | undefined> {
  switch (clue.kind) {
    case 'institution':
      return (await db.query<Place>(byInstitution, [clue.institutionId])).rows[0];
    case 'client':
      return (await db.query<Place>(byClient, [clue.clientId])).rows[0];
    case 'host':
      return (await db.query<Place>(byHost, [clue.host])).rows[0];
    case 'issuer': {
      const [found, another] = (await db.query<Place>(byIssuer, [clue.issuer])).rows;
      return another === undefined ? found : undefined;
    }
  }
}

/** Undefined for a code that no institution of the cells has. */
export async function selectPlaceOfCode(db: Directory, code: string): Promise<Place | undefined> {
  return (await db.query<Place>(byCode, [code])).rows[0];
}

const move = sql(
  'directory_move',
  `update directory_institutions set cell = $3, moves = greatest(moves, $5) + 1, placed_at = $4
   where institution_id = $1 and cell in ($2, $3) and moves <= $5`,
);

/**
 * Places the institution at the other cell, unless the directory knows a later move: the switch of a command that was killed may arrive behind
 * the undo. Returns the place; undefined if the institution is not there.
 */
export async function updateCellOf(
  db: Directory,
  {
    institutionId,
    moves,
    from,
    to,
  }: { readonly institutionId: InstitutionId; readonly moves: number } & Record<'from' | 'to', string>,
  at: Date,
): Promise<Place | undefined> {
  await db.query(move, [institutionId, from, to, at, moves]);
  const placed = await selectPlace(db, { kind: 'institution', institutionId });
  return placed?.cell === to ? placed : undefined;
}

const allHosts = sql(
  'directory_hosts',
  `select h.host, i.code, i.cell, c.address, c.state
   from directory_hosts h join ${placed} on i.institution_id = h.institution_id order by h.host`,
);

export interface HostPlace extends Omit<Place, 'institutionId' | 'moves'> {
  readonly host: string;
}

export async function selectHosts(db: Directory): Promise<HostPlace[]> {
  return (await db.query<HostPlace>(allHosts)).rows;
}

const nameActor = sql('directory_name_actor', `select set_config('sharedraft.actor', $1, true)`);

/** For the audit, until the end of the transaction. */
export async function setActor(db: Directory, actor: string): Promise<void> {
  await db.query(nameActor, [actor]);
}
