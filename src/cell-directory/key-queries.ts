import { type Directory, sql } from '../storage/index.ts';

/* The public keys by which cells sign tokens. A cell verifies no token with another one's (ADR 72). */

export interface PublishedKey {
  readonly kid: string;
  /** The public members only: the directory refuses others. */
  readonly publicJwk: object;
}

/** A key of another cell. It is published no longer than that: its cell may be lost. */
export interface KeyOfOther extends PublishedKey {
  readonly listedUntil: Date;
}

const dayMillis = 24 * 60 * 60_000;
/** Longer than any token, and renewed once a day: each renewal is an entry of the audit. Others read it within a day more. */
const listedMillis = 3 * dayMillis;
const renewedMillis = 2 * dayMillis;
/** Another process of the cell may have made a key that this one has not read. */
const freshMillis = 60_000;

const given = 'unnest($1::text[], $2::jsonb[]) as given (kid, public_jwk)';
const insertKeys = sql(
  'directory_insert_keys',
  `insert into directory_keys (kid, cell, public_jwk, published_at, listed_until)
   select given.kid, $3, given.public_jwk, $4, $5 from ${given}
   where not exists (select from directory_keys known where known.kid = given.kid) order by 1 on conflict do nothing`,
);
const deleteKeys = sql(
  'directory_delete_keys',
  `delete from directory_keys where cell = $1 and kid <> all ($2::text[]) and published_at < $3`,
);
const renewKeys = sql(
  'directory_renew_keys',
  'update directory_keys set listed_until = $3 where cell = $1 and kid = any ($2::text[]) and listed_until < $4',
);
const strangeKeys = sql(
  'directory_strange_keys',
  `select given.kid, k.cell from ${given}
   join directory_keys k on k.kid = given.kid and (k.cell <> $3 or k.public_jwk <> given.public_jwk) order by 1`,
);

/** Brings the cell's keys in the directory to those that it has now. */
export async function publishKeys(
  db: Directory,
  { cell, keys }: { readonly cell: string; readonly keys: readonly PublishedKey[] },
  at: Date,
): Promise<{ readonly changes: number; readonly conflicts: readonly string[] }> {
  const later = (millis: number) => new Date(at.getTime() + millis);
  const kids = keys.map(({ kid }) => kid);
  const values = [kids, keys.map(({ publicJwk }) => JSON.stringify(publicJwk)), cell];
  const { rowCount: added } = await db.query(insertKeys, [...values, at, later(listedMillis)]);
  const { rowCount: removed } = await db.query(deleteKeys, [cell, kids, later(-freshMillis)]);
  await db.query(renewKeys, [cell, kids, later(listedMillis), later(renewedMillis)]);
  const { rows } = await db.query<{ kid: string; cell: string }>(strangeKeys, values);
  return {
    changes: added + removed,
    conflicts: rows.map(
      ({ kid, cell: of }) =>
        `The directory has another key ${kid} than this cell, as one of the cell "${of}".`,
    ),
  };
}

/* A key id never gets another key, and renewals are read once a day: so the ids tell whether the keys have changed. */
const keyIds = sql(
  'directory_key_ids',
  `select md5(coalesce(string_agg(kid, ' ' order by kid), '')) as ids from directory_keys`,
);
const keysOfOthers = sql(
  'directory_keys_of_others',
  'select kid, public_jwk, listed_until from directory_keys where cell <> $1 order by kid',
);

/** The keys of other cells, as one reading found them. */
export interface KeysRead {
  /** The cell that read them. */
  readonly cell: string;
  /** A digest of the ids of all keys. */
  readonly ids: string;
  readonly at: Date;
  readonly keys: readonly KeyOfOther[];
}

/** Reads the keys of the other cells if they have changed since the last reading, or if it is a day old. */
export async function readKeysOfOthers(
  db: Directory,
  { cell, last }: { readonly cell: string; readonly last: KeysRead | undefined },
  at: Date,
): Promise<KeysRead> {
  const [answer] = (await db.query<{ ids: string }>(keyIds)).rows;
  // The keys are read behind their ids: a change in between is seen again next time.
  const ids = answer?.ids ?? '';
  const age = at.getTime() - (last?.at.getTime() ?? 0);
  if (last?.cell === cell && last.ids === ids && age >= 0 && age < dayMillis) return last;
  const { rows: keys } = await db.query<KeyOfOther>(keysOfOthers, [cell]);
  return { cell, ids, at, keys };
}
