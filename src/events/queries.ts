import { counted, type InstitutionId, type Queryable, rowsOf, sql, type Write } from '../storage/index.ts';
import type { CodeEvent, CodeEventKind, NewEvent } from './event.ts';
import type { EventPlace } from './event-id.ts';

const insertEventsStatement = counted(
  'events_insert',
  'outbox',
  'cardinality($3::new_event[])',
  `insert into outbox (institution_id, epoch, kind, subject_key, from_key, from_seq, to_key, to_seq,
                       data, secret, secret_expires_at, recorded_at)
   select $1, coalesce((select max(e.epoch) from event_epochs e where e.institution_id = $1), 0), kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret, secret_expires_at, $2
   from unnest($3::new_event[])
        with ordinality as event (kind, subject_key, from_key, from_seq, to_key, to_seq,
                                  data, secret, secret_expires_at, place)
   order by place`,
);

export function insertEvents(institutionId: InstitutionId, events: readonly NewEvent[], at: Date): Write {
  return {
    statement: insertEventsStatement,
    values: [
      institutionId,
      at,
      rowsOf(events, (event) => [
        event.kind,
        event.subjectKey,
        event.fromKey,
        event.fromSeq,
        event.toKey,
        event.toSeq,
        event.data && JSON.stringify(event.data),
        event.secret,
        event.secretExpiresAt,
      ]),
    ],
  };
}

const bindWriter = sql('events_write_events_of', 'select write_events_of($1)');

/**
 * The first act of a long transaction: from then on it can write events of its institution only, and the feeds of the others do not wait
 * for it (ADR 77).
 */
export async function writeEventsOf(tx: Queryable): Promise<void> {
  await tx.query(bindWriter, [tx.institutionId]);
}

const clearExpiredSecretsStatement = sql(
  'events_clear_expired_secrets',
  `update outbox set secret = null, secret_expires_at = null
   where institution_id = $1 and secret is not null and secret_expires_at <= $2`,
);

export async function clearExpiredSecrets(db: Queryable, now: Date): Promise<number> {
  const { rowCount } = await db.query(clearExpiredSecretsStatement, [db.institutionId, now]);
  return rowCount;
}

const codeEvent = sql(
  'events_code_event',
  `select o.event_key, o.subject_key as user_key, o.secret
   from outbox o
   where o.institution_id = $1 and o.epoch = $2 and o.xid = $3::xid8 and o.event_key = $4
     and o.kind = any ($5::text[])`,
);

export async function selectCodeEvent(
  db: Queryable,
  { epoch, xid, eventKey }: EventPlace,
  kinds: readonly CodeEventKind[],
): Promise<CodeEvent | undefined> {
  const values = [db.institutionId, epoch, String(xid), eventKey, kinds];
  return (await db.query<CodeEvent>(codeEvent, values)).rows[0];
}

const clearSecretStatement = sql(
  'events_clear_secret',
  `update outbox set secret = null, secret_expires_at = null
   where institution_id = $1 and event_key = $2 and secret is not null`,
);

export async function clearSecret(db: Queryable, eventKey: bigint): Promise<number> {
  return (await db.query(clearSecretStatement, [db.institutionId, eventKey])).rowCount;
}

const clearData = sql('events_erase_member_events', 'select erase_member_events($1) as erased');

export async function clearMemberData(tx: Queryable, userKey: bigint): Promise<number> {
  const { rows } = await tx.query<{ erased: bigint }>(clearData, [userKey]);
  return Number(rows[0]?.erased ?? 0n);
}
