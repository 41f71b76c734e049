import { columnsOf, type Queryable, sql, type Transaction } from '../../storage/index.ts';
import type { AccountAlertType, AlertChannel, Language } from '../alert.ts';

/** Times are HH:MM. */
export interface SettingsRow {
  readonly timeZone: string;
  readonly language: Language;
  readonly quietFrom: string | null;
  readonly quietTo: string | null;
  readonly digestAt: string | null;
  readonly securityChannels: AlertChannel[];
}

const settings = sql(
  'alerts_settings',
  `select time_zone, language, to_char(quiet_from, 'HH24:MI') as quiet_from, to_char(quiet_to, 'HH24:MI') as quiet_to,
          to_char(digest_at, 'HH24:MI') as digest_at, security_channels
   from alert_preferences where institution_id = $1 and user_key = $2`,
);

export async function selectSettings(db: Queryable, userKey: bigint): Promise<SettingsRow | undefined> {
  return (await db.query<SettingsRow>(settings, [db.institutionId, userKey])).rows[0];
}

export interface RuleRow {
  readonly alertType: AccountAlertType;
  readonly accountId: string;
  readonly currency: string;
  readonly threshold: bigint | null;
  readonly channels: AlertChannel[];
}

/** The member who asks, and the accounts to which a consent restricts the app; null: to none. */
interface AskingMember {
  readonly userKey: bigint;
  readonly personKey: bigint;
  readonly coveredKeys: readonly bigint[] | null;
}

// A rule about an account that the member no longer holds is kept, and not shown: nothing is derived by it.
const rules = sql(
  'alerts_rules',
  `select r.alert_type, a.account_id, a.currency, r.threshold, r.channels
   from alert_rules r
   join accounts a on a.institution_id = $1 and a.account_key = r.account_key
   join holders h on h.institution_id = $1 and h.account_key = r.account_key and h.person_key = $3
   where r.institution_id = $1 and r.user_key = $2 and ($4::bigint[] is null or r.account_key = any ($4))
   order by a.account_id, r.alert_type`,
);

export async function selectRules(
  db: Queryable,
  { userKey, personKey, coveredKeys }: AskingMember,
): Promise<RuleRow[]> {
  return (await db.query<RuleRow>(rules, [db.institutionId, userKey, personKey, coveredKeys])).rows;
}

const accounts = sql(
  'alerts_accounts',
  `select a.account_id, a.account_key, a.category, a.currency
   from holders h
   join accounts a on a.institution_id = h.institution_id and a.account_key = h.account_key
   where h.institution_id = $1 and h.person_key = $2 and a.account_id = any ($3::text[])
     and ($4::bigint[] is null or a.account_key = any ($4))`,
);

export interface HeldAccount {
  readonly accountId: string;
  readonly accountKey: bigint;
  readonly category: string;
  readonly currency: string;
}

/** Those of the accounts that the caller may see. */
export async function selectHeldAccountsOf(
  db: Queryable,
  { personKey, coveredKeys }: AskingMember,
  accountIds: readonly string[],
): Promise<HeldAccount[]> {
  const values = [db.institutionId, personKey, accountIds, coveredKeys];
  return (await db.query<HeldAccount>(accounts, values)).rows;
}

const saveSettings = sql(
  'alerts_save_settings',
  `insert into alert_preferences (institution_id, user_key, changed_at, time_zone, language, quiet_from, quiet_to, digest_at,
                                  security_channels)
   values ($1, $2, $3, $4, $5, $6, $7, $8, $9)
   on conflict (institution_id, user_key) do update
   set changed_at = excluded.changed_at, time_zone = excluded.time_zone, language = excluded.language,
       quiet_from = excluded.quiet_from, quiet_to = excluded.quiet_to,
       digest_at = excluded.digest_at, security_channels = excluded.security_channels`,
);

/** Locks the member's row until the end of the transaction, so that two changes at once leave one of them whole. */
export async function upsertSettings(
  tx: Transaction,
  userKey: bigint,
  { row, at }: { readonly row: SettingsRow; readonly at: Date },
): Promise<void> {
  const { timeZone, language, quietFrom, quietTo, digestAt, securityChannels } = row;
  await tx.query(saveSettings, [
    tx.institutionId,
    userKey,
    at,
    timeZone,
    language,
    quietFrom,
    quietTo,
    digestAt,
    securityChannels,
  ]);
}

const removeRules = sql(
  'alerts_remove_rules',
  `delete from alert_rules
   where institution_id = $1 and user_key = $2 and ($3::bigint[] is null or account_key = any ($3))`,
);
const addRules = sql(
  'alerts_add_rules',
  `insert into alert_rules (institution_id, user_key, account_key, alert_type, threshold, channels)
   select $1, $2, v.account_key, v.alert_type, v.threshold, array(select jsonb_array_elements_text(v.channels))
   from unnest($3::bigint[], $4::text[], $5::bigint[], $6::jsonb[]) as v (account_key, alert_type, threshold, channels)`,
);

export interface NewRule {
  readonly accountKey: bigint;
  readonly alertType: AccountAlertType;
  readonly threshold: bigint | null;
  readonly channels: readonly AlertChannel[];
}

/** Replaces the rules that the caller may see; an app leaves those about accounts outside its consent. */
export async function replaceRules(
  tx: Transaction,
  { userKey, coveredKeys }: AskingMember,
  rules: readonly NewRule[],
): Promise<void> {
  await tx.query(removeRules, [tx.institutionId, userKey, coveredKeys]);
  if (rules.length === 0) return;
  const texts = rules.map((rule) => ({ ...rule, channels: JSON.stringify(rule.channels) }));
  const columns = columnsOf(texts, 'accountKey', 'alertType', 'threshold', 'channels');
  await tx.query(addRules, [tx.institutionId, userKey, ...columns]);
}
