import { type Queryable, sql, type Transaction } from '../../storage/index.ts';
import { type AlertRow, alertColumns, withAccount } from '../alert-row.ts';

export interface InboxMember {
  readonly userKey: bigint;
  readonly personKey: bigint;
  /** The accounts to which a consent restricts the app; null: to none. */
  readonly coveredKeys: readonly bigint[] | null;
}

/** Only alerts about accounts that the caller may see now. `$2` is the user, `$3` the person, `$4` the covered accounts. */
const visible = `n.institution_id = $1 and n.user_key = $2 and n.channels @> array['INBOX'] and n.released_at is not null
     and (n.account_key is null or exists (
            select from holders h
            where h.institution_id = $1 and h.account_key = n.account_key and h.person_key = $3))
     and (n.account_key is null or $4::bigint[] is null or n.account_key = any ($4))`;

const page = sql(
  'alerts_inbox',
  `select ${alertColumns} from alerts n ${withAccount}
   where ${visible} and n.alert_key < $5 order by n.alert_key desc limit $6`,
);
const unreadPage = sql(
  'alerts_inbox_unread',
  `select ${alertColumns} from alerts n ${withAccount}
   where ${visible} and n.read_at is null and n.alert_key < $5 order by n.alert_key desc limit $6`,
);

/** The newest first. */
export async function selectInbox(
  db: Queryable,
  { userKey, personKey, coveredKeys }: InboxMember,
  wanted: { readonly unreadOnly: boolean; readonly below: bigint; readonly most: number },
): Promise<AlertRow[]> {
  const { unreadOnly, below, most } = wanted;
  const values = [db.institutionId, userKey, personKey, coveredKeys, below, most];
  return (await db.query<AlertRow>(unreadOnly ? unreadPage : page, values)).rows;
}

/** An alert that went out. */
export interface ReleasedRow
  extends Pick<AlertRow, 'alertId' | 'alertType' | 'accountId' | 'transferId' | 'channels'> {
  readonly releasedAt: Date;
}

const released = sql(
  'alerts_released',
  `select n.alert_id::text as alert_id, n.alert_type, n.released_at, n.transfer_id, n.channels, a.account_id from alerts n ${withAccount}
   where n.institution_id = $1 and n.user_key = $2 and n.released_at is not null
   order by n.alert_key desc limit $3`,
);

/** By any channel, the newest first. */
export async function selectReleased(db: Queryable, userKey: bigint, most: number): Promise<ReleasedRow[]> {
  return (await db.query<ReleasedRow>(released, [db.institutionId, userKey, most])).rows;
}

const one = sql(
  'alerts_one',
  `select ${alertColumns} from alerts n ${withAccount} where ${visible} and n.alert_id = $5`,
);

export async function selectAlert(
  db: Queryable,
  { userKey, personKey, coveredKeys }: InboxMember,
  alertId: string,
): Promise<AlertRow | undefined> {
  const values = [db.institutionId, userKey, personKey, coveredKeys, alertId];
  return (await db.query<AlertRow>(one, values)).rows[0];
}

const mark = sql(
  'alerts_mark_read',
  `update alerts set read_at = $4
   where institution_id = $1 and user_key = $2 and alert_key = $3 and (read_at is null) = ($4::timestamptz is not null)`,
);

/** False if it was so already. */
export async function updateReadAt(
  tx: Transaction,
  {
    userKey,
    alertKey,
    readAt,
  }: { readonly userKey: bigint; readonly alertKey: bigint; readonly readAt: Date | null },
): Promise<boolean> {
  return (await tx.query(mark, [tx.institutionId, userKey, alertKey, readAt])).rowCount === 1;
}

const language = sql(
  'alerts_language',
  'select language from alert_preferences where institution_id = $1 and user_key = $2',
);

/** Undefined for a member without preferences. */
export async function selectLanguage(db: Queryable, userKey: bigint): Promise<string | undefined> {
  return (await db.query<{ language: string }>(language, [db.institutionId, userKey])).rows[0]?.language;
}
