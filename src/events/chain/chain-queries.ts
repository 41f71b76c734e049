import { type Queryable, sql } from '../../storage/index.ts';
import { type Chain, type EntryContent, firstHash, type PersonalFields } from './canonical.ts';

/** The end of a chain, and where it begins since it was pruned. */
export interface ChainEnd {
  readonly chain: Chain;
  readonly number: number;
  readonly hash: Buffer;
  readonly prunedTo: number;
  readonly prunedHash: Buffer;
}

const ends = sql(
  'events_chain_ends',
  'select chain, number, hash, pruned_to, pruned_hash from audit_chains where institution_id = $1 order by chain',
);

interface EndRow extends Omit<ChainEnd, 'number' | 'prunedTo'> {
  readonly number: bigint;
  readonly prunedTo: bigint;
}

/** A chain without an entry has no row: it begins at zero. */
export async function selectChainEnd(db: Queryable, chain: Chain): Promise<ChainEnd> {
  const { rows } = await db.query<EndRow>(ends, [db.institutionId]);
  const row = rows.find((one) => one.chain === chain);
  if (row === undefined) return { chain, number: 0, hash: firstHash, prunedTo: 0, prunedHash: firstHash };
  return { ...row, number: Number(row.number), prunedTo: Number(row.prunedTo) };
}

/* A time is text with all six decimals of the database. */
const contentColumns = `audit_key, action, outcome, reason, client_id, user_id, subject, operator, operator_host, sudo_user,
  operator_as, operator_id, break_glass, transaction_id, times, before_change, after_change, stated_reason, personal, erased_at,
  address, encode(name_hash, 'hex') as name_hash,
  to_char(recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as recorded_at`;

interface ContentRow {
  readonly auditKey: bigint;
  readonly recordedAt: string;
  readonly action: string;
  readonly outcome: string;
  readonly reason: string | null;
  readonly clientId: string | null;
  readonly userId: string | null;
  readonly subject: string | null;
  readonly operator: string | null;
  readonly operatorHost: string | null;
  readonly sudoUser: string | null;
  readonly operatorAs: string | null;
  readonly operatorId: string | null;
  readonly breakGlass: boolean;
  readonly transactionId: string;
  readonly times: number;
  readonly beforeChange: object | null;
  readonly afterChange: object | null;
  readonly address: string | null;
  readonly nameHash: string | null;
  readonly statedReason: string | null;
  readonly personal: object | null;
  readonly erasedAt: Date | null;
}

/** An entry that has no number yet. */
export interface UnsealedEntry {
  readonly auditKey: bigint;
  readonly action: string;
  readonly isErased: boolean;
  readonly personal: PersonalFields;
  contentAt(place: ContentPlace): EntryContent;
}

interface ContentPlace {
  readonly institution: number;
  readonly chain: Chain;
  readonly number: number;
  readonly sealedAt: string;
  readonly personal: string;
}

function contentOf(row: ContentRow, place: ContentPlace): EntryContent {
  return {
    v: 1,
    ...place,
    key: String(row.auditKey),
    at: row.recordedAt,
    action: row.action,
    outcome: row.outcome,
    reason: row.reason ?? undefined,
    clientId: row.clientId ?? undefined,
    userId: row.userId ?? undefined,
    subject: row.subject ?? undefined,
    operator: row.operator ?? undefined,
    host: row.operatorHost ?? undefined,
    sudoUser: row.sudoUser ?? undefined,
    as: row.operatorAs ?? undefined,
    operatorId: row.operatorId ?? undefined,
    breakGlass: row.breakGlass || undefined,
    transactionId: row.transactionId,
    times: row.times,
    before: row.beforeChange ?? undefined,
    after: row.afterChange ?? undefined,
  };
}

function personalOf(row: ContentRow): PersonalFields {
  return {
    address: row.address ?? undefined,
    nameHash: row.nameHash ?? undefined,
    statedReason: row.statedReason ?? undefined,
    values: row.personal ?? undefined,
  };
}

const unsealed = sql(
  'events_unsealed_audit',
  `select ${contentColumns} from audit_entries
   where institution_id = $1 and chain_number is null order by audit_key limit $2`,
);

/** Committed entries without a number. One whose transaction commits later is among them later. */
export async function selectUnsealed(db: Queryable, most: number): Promise<UnsealedEntry[]> {
  const { rows } = await db.query<ContentRow>(unsealed, [db.institutionId, most]);
  return rows.map((row) => ({
    auditKey: row.auditKey,
    action: row.action,
    isErased: row.erasedAt !== null,
    personal: personalOf(row),
    contentAt: (place) => contentOf(row, place),
  }));
}

/** One process seals an institution's entries at a time; the lock ends with the transaction. */
const turn = sql('events_sealing_turn', 'select pg_try_advisory_xact_lock(7305104, $1) as mine');

export async function takeSealingTurn(tx: Queryable): Promise<boolean> {
  return (await tx.query<{ mine: boolean }>(turn, [tx.institutionId])).rows[0]?.mine === true;
}

/** An entry with the hashes that it is sealed with. */
export interface Seal {
  readonly auditKey: bigint;
  readonly contentHash: Buffer;
  readonly personalHash: Buffer;
  /** Null for an entry that was erased before. */
  readonly salt: Buffer | null;
}

const seal = sql('events_seal_audit', 'select seal_audit_entries($1, $2, $3, $4, $5, $6, $7)');

export async function writeSeals(
  tx: Queryable,
  { chain, hash }: Pick<ChainEnd, 'chain' | 'hash'>,
  seals: readonly Seal[],
  at: Date,
): Promise<void> {
  await tx.query(seal, [
    chain,
    hash,
    seals.map(({ auditKey }) => auditKey),
    seals.map(({ contentHash }) => contentHash),
    seals.map(({ personalHash }) => personalHash),
    seals.map(({ salt }) => salt),
    at,
  ]);
}

/** A sealed entry with all that its hashes are taken over. */
export interface SealedEntry {
  readonly auditKey: bigint;
  readonly number: number;
  readonly recordedAt: string;
  readonly content: EntryContent;
  readonly personal: PersonalFields;
  /** Null: erased. */
  readonly salt: Buffer | null;
  readonly isErased: boolean;
  readonly personalHash: Buffer;
  readonly hash: Buffer;
}

const sealed = sql(
  'events_sealed_audit',
  `select ${contentColumns}, chain_number, coalesce(sealed_at, 'epoch') as sealed_at, personal_salt,
          coalesce(personal_hash, '') as personal_hash, coalesce(chain_hash, '') as chain_hash
   from audit_entries
   where institution_id = $1 and chain = $2 and chain_number is not null and chain_number > $3
   order by chain_number limit $4`,
);

interface SealedRow extends ContentRow {
  readonly chainNumber: bigint;
  readonly sealedAt: Date;
  readonly personalSalt: Buffer | null;
  readonly personalHash: Buffer;
  readonly chainHash: Buffer;
}

/** The entries after a number of a chain, in its order. */
export async function selectSealed(
  db: Queryable,
  chain: Chain,
  after: number,
  most: number,
): Promise<SealedEntry[]> {
  const { rows } = await db.query<SealedRow>(sealed, [db.institutionId, chain, after, most]);
  return rows.map((row) => {
    const number = Number(row.chainNumber);
    return {
      auditKey: row.auditKey,
      number,
      recordedAt: row.recordedAt,
      content: contentOf(row, {
        institution: db.institutionId,
        chain,
        number,
        sealedAt: row.sealedAt.toISOString(),
        personal: row.personalHash.toString('hex'),
      }),
      personal: personalOf(row),
      salt: row.personalSalt,
      isErased: row.erasedAt !== null,
      personalHash: row.personalHash,
      hash: row.chainHash,
    };
  });
}

const hashAt = sql(
  'events_chain_hash_at',
  `select coalesce(chain_hash, '') as chain_hash from audit_entries
   where institution_id = $1 and chain = $2 and chain_number is not null and chain_number = $3`,
);

export async function selectHashAt(db: Queryable, chain: Chain, number: number): Promise<Buffer | undefined> {
  const { rows } = await db.query<{ chainHash: Buffer }>(hashAt, [db.institutionId, chain, number]);
  return rows[0]?.chainHash;
}
