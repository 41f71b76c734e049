import { type Queryable, sql, type Transaction } from '../storage/index.ts';
import type { Verdict } from '../transfers/index.ts';

/** The settings of an institution's screening. */
export interface HookSettings {
  readonly url: string;
  /** Orders from this amount on are screened, in minor units of the institution's currency. */
  readonly fromMinor: bigint;
  /** The time that the hook has for its answer. */
  readonly timeoutMillis: number;
  /** The verdict on an order without an answer. */
  readonly onSilence: Verdict;
  /** An order that its verdict holds expires after this time. */
  readonly holdSeconds: number;
}

/** The secrets that sign the requests. The one before signs as well until it ends. */
export interface HookSecrets {
  readonly sealedSecret: Uint8Array;
  readonly sealedPrevious: Uint8Array | null;
  readonly previousUntil: Date | null;
}

export interface Hook extends HookSettings, HookSecrets {
  readonly bindsFrom: Date;
}

const columns = `url, from_amount as from_minor, timeout_millis, on_silence, hold_seconds, sealed_secret, sealed_previous,
  previous_until, binds_from`;
const find = sql('screening_hook', `select ${columns} from screening_hooks where institution_id = $1`);
const lock = sql(
  'screening_lock_hook',
  `select ${columns} from screening_hooks where institution_id = $1 for update`,
);

/** Undefined if the institution screens no orders. */
export async function selectHook(db: Queryable): Promise<Hook | undefined> {
  return (await db.query<Hook>(find, [db.institutionId])).rows[0];
}

export async function lockHook(tx: Queryable): Promise<Hook | undefined> {
  return (await tx.query<Hook>(lock, [tx.institutionId])).rows[0];
}

const save = sql(
  'screening_save_hook',
  `insert into screening_hooks (institution_id, url, from_amount, timeout_millis, on_silence, hold_seconds, sealed_secret)
   values ($1, $2, $3, $4, $5, $6, $7)
   on conflict (institution_id) do update
   set url = excluded.url, timeout_millis = excluded.timeout_millis, on_silence = excluded.on_silence,
       hold_seconds = excluded.hold_seconds, from_amount = excluded.from_amount,
       binds_from = case when excluded.from_amount = screening_hooks.from_amount then screening_hooks.binds_from
                         else excluded.binds_from end`,
);

/** Keeps the secret of a hook that stands. */
export async function upsertHook(
  tx: Transaction,
  { url, fromMinor, timeoutMillis, onSilence, holdSeconds }: HookSettings,
  sealedSecret: Uint8Array,
): Promise<void> {
  const settings = [url, fromMinor, timeoutMillis, onSilence, holdSeconds];
  await tx.query(save, [tx.institutionId, ...settings, sealedSecret]);
}

const saveSecrets = sql(
  'screening_save_secrets',
  `update screening_hooks set sealed_secret = $2, sealed_previous = $3, previous_until = $4 where institution_id = $1`,
);

export async function updateSecrets(tx: Queryable, secrets: HookSecrets): Promise<void> {
  const { sealedSecret, sealedPrevious, previousUntil } = secrets;
  await tx.query(saveSecrets, [tx.institutionId, sealedSecret, sealedPrevious, previousUntil]);
}

const remove = sql('screening_remove_hook', 'delete from screening_hooks where institution_id = $1');

export async function deleteHook(tx: Transaction): Promise<void> {
  await tx.query(remove, [tx.institutionId]);
}
