import { counted, type InstitutionId, type Queryable, sql, type Write } from '../../storage/index.ts';
import type { Operator } from '../operator.ts';
import type {
  AuditAction,
  AuditEntry,
  AuditFilter,
  RecordedAuditEntry,
  TimedAuditEntry,
} from './audit-entry.ts';

const columns = `recorded_at, action, outcome, reason, client_id, user_id, subject, name_hash, address, operator,
  operator_host, sudo_user, operator_as, transaction_id, times, before_change, after_change, stated_reason,
  personal, operator_id, break_glass`;

const insert = counted(
  'events_insert_audit',
  'audit_entries',
  'cardinality($2::timestamptz[])',
  `insert into audit_entries (institution_id, ${columns})
   select $1, ${columns}
   from unnest($2::timestamptz[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
               $9::bytea[], $10::inet[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[], $16::integer[],
               $17::jsonb[], $18::jsonb[], $19::text[],
               $20::jsonb[], $21::text[], $22::boolean[])
        with ordinality as entry (${columns}, place)
   order by place`,
);

export function insertAudit(institutionId: InstitutionId, entries: readonly TimedAuditEntry[]): Write {
  const values = [
    institutionId,
    entries.map(({ at }) => at),
    entries.map(({ action }) => action),
    entries.map(({ outcome }) => outcome),
    entries.map(({ reason }) => reason ?? null),
    entries.map(({ clientId }) => clientId ?? null),
    entries.map(({ userId }) => userId ?? null),
    entries.map(({ subject }) => subject ?? null),
    entries.map(({ nameHash }) => nameHash ?? null),
    entries.map(({ origin }) => origin.address),
    entries.map(({ origin }) => origin.operator?.user ?? null),
    entries.map(({ origin }) => origin.operator?.host ?? null),
    entries.map(({ origin }) => origin.operator?.sudoUser ?? null),
    entries.map(({ origin }) => origin.operator?.as ?? null),
    entries.map(({ origin }) => origin.transactionId),
    entries.map(({ times }) => times),
    entries.map(({ before }) => toJson(before)),
    entries.map(({ after }) => toJson(after)),
    entries.map(({ statedReason, origin }) => statedReason ?? origin.statedReason ?? null),
    entries.map(({ personal }) => toJson(personal)),
    entries.map(({ origin }) => origin.operator?.operatorId ?? null),
    entries.map(({ origin }) => origin.operator?.isBreakGlass === true),
  ];
  return { statement: insert, values };
}

function toJson(value: object | undefined): string | null {
  if (value === undefined) return null;
  return JSON.stringify(value, (_, member) => (typeof member === 'bigint' ? String(member) : member));
}

/**
 * The matching entries among those behind a place, and the last of these, where the next window begins. Filters stand outside of the window: with
 * them inside, a plan for any values sorts the whole period instead of reading its index in order.
 */
function windowOf(direction: 'asc' | 'desc'): string {
  const [behind, end] = direction === 'desc' ? ['<', '>='] : ['>', '<'];
  const ordered = `order by recorded_at ${direction}, audit_key ${direction}`;
  return `select * from (
     select *, row_number() over (${ordered}) = $5 as is_last,
            (($6::text is null or action = $6)
             and ($7::text is null or outcome = $7)
             and ($8::text is null or client_id = $8)
             and ($9::text is null or user_id = $9)
             and ($10::bytea is null or name_hash = $10)
             and ($11::inet is null or address <<= $11)
             and ($12::text is null or transaction_id = $12)
             and ($13::text is null or operator = $13 or sudo_user = $13 or operator_id = $13)
             and ($14::text is null or subject = $14)) is true as matches
     from (select audit_key, ${columns} from audit_entries
           where institution_id = $1 and (recorded_at, audit_key) ${behind} ($2, $3) and recorded_at ${end} $4
           ${ordered} limit $5) w
   ) w where matches or is_last ${ordered}`;
}

const oldest = sql('events_audit_page', windowOf('asc'));
const newest = sql('events_audit_page_newest', windowOf('desc'));

interface Row {
  auditKey: bigint;
  recordedAt: Date;
  action: AuditAction;
  outcome: 'succeeded' | 'refused';
  reason: string | null;
  clientId: string | null;
  userId: string | null;
  subject: string | null;
  nameHash: Buffer | null;
  address: string | null;
  operator: string | null;
  operatorHost: string | null;
  sudoUser: string | null;
  operatorAs: string | null;
  operatorId: string | null;
  breakGlass: boolean;
  transactionId: string;
  times: number;
  beforeChange: object | null;
  afterChange: object | null;
  personal: AuditEntry['personal'] | null;
  statedReason: string | null;
  matches: boolean;
  isLast: boolean;
}

export type AuditPlace = Pick<RecordedAuditEntry, 'at' | 'auditKey'>;

/** The matching entries among the `window` behind a place, in the order of time; `last` is the last of all these, undefined at the end. */
export async function selectAudit(
  db: Queryable,
  filter: AuditFilter,
  {
    after,
    newestFirst,
    window,
  }: { readonly after: AuditPlace | undefined; readonly newestFirst: boolean; readonly window: number },
): Promise<{ readonly entries: RecordedAuditEntry[]; readonly last: AuditPlace | undefined }> {
  const since = filter.since ?? '-infinity';
  const until = filter.until ?? 'infinity';
  const { rows } = await db.query<Row>(newestFirst ? newest : oldest, [
    db.institutionId,
    after?.at ?? (newestFirst ? until : since),
    after?.auditKey ?? 0n,
    newestFirst ? since : until,
    window,
    filter.action ?? null,
    filter.outcome ?? null,
    filter.clientId ?? null,
    filter.userId ?? null,
    filter.nameHash ?? null,
    filter.network ?? null,
    filter.transactionId ?? null,
    filter.operator ?? null,
    filter.subject ?? null,
  ]);
  const end = rows.find(({ isLast }) => isLast);
  return {
    entries: rows.filter(({ matches }) => matches).map(toEntry),
    last: end && { at: end.recordedAt, auditKey: end.auditKey },
  };
}

function toEntry(row: Row): RecordedAuditEntry {
  return {
    auditKey: row.auditKey,
    at: row.recordedAt,
    action: row.action,
    outcome: row.outcome,
    reason: row.reason ?? undefined,
    clientId: row.clientId ?? undefined,
    userId: row.userId ?? undefined,
    subject: row.subject ?? undefined,
    nameHash: row.nameHash ?? undefined,
    origin: {
      transactionId: row.transactionId,
      address: row.address,
      ...(row.operator !== null && { operator: toOperator(row.operator, row) }),
    },
    times: row.times,
    before: row.beforeChange ?? undefined,
    after: row.afterChange ?? undefined,
    personal: row.personal ?? undefined,
    statedReason: row.statedReason ?? undefined,
  };
}

function toOperator(user: string, row: Row): Operator {
  return {
    user,
    ...(row.operatorId !== null && { operatorId: row.operatorId }),
    ...(row.breakGlass && { isBreakGlass: true }),
    ...(row.operatorHost !== null && { host: row.operatorHost }),
    ...(row.sudoUser !== null && { sudoUser: row.sudoUser }),
    ...(row.operatorAs !== null && { as: row.operatorAs }),
  };
}

/** A change of an institution's rules about transfers: the rows that it removed and those that it added, by kind, as JSON. */
export interface RuleChange {
  readonly at: Date;
  readonly before: Readonly<Record<string, readonly object[]>> | null;
  readonly after: Readonly<Record<string, readonly object[]>> | null;
}

// The action stands in the text, so that the index of these few entries is used.
const ruleChanges = sql(
  'events_audit_rule_changes',
  `select recorded_at as at, before_change as before, after_change as after from audit_entries
   where institution_id = $1 and action = 'transfer.rules_changed' and recorded_at >= $2
   order by recorded_at desc, audit_key desc limit $3`,
);

/** Since a moment, the newest first. */
export async function selectRuleChanges(
  db: Queryable,
  { since, most }: { readonly since: Date; readonly most: number },
): Promise<RuleChange[]> {
  return (await db.query<RuleChange>(ruleChanges, [db.institutionId, since, most])).rows;
}

const placeOfKey = sql(
  'events_audit_place',
  'select recorded_at as at, audit_key from audit_entries where institution_id = $1 and audit_key = $2',
);

export async function selectAuditPlace(db: Queryable, auditKey: bigint): Promise<AuditPlace | undefined> {
  const { rows } = await db.query<{ at: Date; auditKey: bigint }>(placeOfKey, [db.institutionId, auditKey]);
  return rows[0];
}

const erase = sql('events_erase_audit', 'select erase_audit_personal($1, $2, $3) as erased');

export async function clearPersonalFields(
  tx: Queryable,
  userIds: readonly string[],
  subjects: readonly string[],
  at: Date,
): Promise<number> {
  const { rows } = await tx.query<{ erased: bigint }>(erase, [userIds, subjects, at]);
  return Number(rows[0]?.erased ?? 0n);
}
