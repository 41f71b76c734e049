import { appendAudit, type Origin } from '../../events/index.ts';
import { coveredKeys, type MemberActor } from '../../institutions/index.ts';
import { type DecimalAmount, toMinor } from '../../ledger/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import {
  type AccountAlertType,
  type AlertChannel,
  type Language,
  securityChannels as leastSecurityChannels,
  thresholdTypes,
} from '../alert.ts';
import type { QuietHours } from '../derivation/due-times.ts';
import {
  type HeldAccount,
  type NewRule,
  replaceRules,
  type SettingsRow,
  selectHeldAccountsOf,
  selectRules,
  selectSettings,
  upsertSettings,
} from './preference-queries.ts';

interface AlertSettings {
  /** IANA name. */
  readonly timeZone: string;
  readonly language: Language;
  readonly quietHours: QuietHours | null;
  /** HH:MM at which the day's alerts go out together; null: each on its own. */
  readonly digestAt: string | null;
  readonly securityChannels: readonly AlertChannel[];
}

interface RuleOf<Threshold> {
  readonly alertType: AccountAlertType;
  readonly accountId: string;
  readonly threshold: Threshold | null;
  readonly channels: readonly AlertChannel[];
}

export interface AlertPreferences extends AlertSettings {
  /** False: the defaults of a member who set none. */
  readonly isChosen: boolean;
  readonly rules: readonly (RuleOf<bigint> & { readonly currency: string })[];
}

/** A setting that is undefined gets its default. */
export interface WantedPreferences extends Partial<AlertSettings> {
  readonly rules: readonly RuleOf<DecimalAmount>[];
}

export interface PreferenceDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly timeZoneOf: (institutionId: InstitutionId) => Promise<string>;
}

/** The member's rules and settings; a member who set none has the defaults. */
export async function getAlertPreferences(
  deps: PreferenceDeps,
  actor: MemberActor,
): Promise<AlertPreferences> {
  const timeZone = await deps.timeZoneOf(actor.institutionId);
  return deps.database.read(actor.institutionId, (db) => readPreferences(db, actor, timeZone));
}

function askingOf(actor: MemberActor) {
  const { userKey, personKey } = actor;
  return { userKey, personKey, coveredKeys: coveredKeys(actor) };
}

async function readPreferences(
  db: Queryable,
  actor: MemberActor,
  timeZone: string,
): Promise<AlertPreferences> {
  const [settings, rules] = await Promise.all([
    selectSettings(db, actor.userKey),
    selectRules(db, askingOf(actor)),
  ]);
  const isChosen = settings !== undefined;
  return { ...toSettings(settings ?? defaultsFor(timeZone)), isChosen, rules };
}

/**
 * Replaces all rules and settings of the member; for an app, the rules about accounts that its consent covers. Problem `invalid_request`: a setting that is not valid, a rule about an account that
 * the member may not see, or one that does not fit its account.
 */
export async function replaceAlertPreferences(
  deps: PreferenceDeps,
  actor: MemberActor,
  { wanted, origin }: { readonly wanted: WantedPreferences; readonly origin: Origin },
): Promise<AlertPreferences> {
  const timeZone = await deps.timeZoneOf(actor.institutionId);
  const row = readSettings(wanted, timeZone);
  const { clientId, userId, userKey } = actor;
  return deps.database.transaction(actor.institutionId, async (tx) => {
    const now = deps.clock();
    await upsertSettings(tx, userKey, { row, at: now });
    const ids = [...new Set(wanted.rules.map(({ accountId }) => accountId))];
    const accounts = await selectHeldAccountsOf(tx, askingOf(actor), ids);
    const rules = wanted.rules.map((rule, place) => readRule(rule, { accounts, place }));
    refuseRepeated(rules);
    await replaceRules(tx, askingOf(actor), rules);
    const after = { alerts: rules.length, quietHours: row.quietFrom !== null, digest: row.digestAt !== null };
    const entry = { action: 'alert.preferences_changed', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, clientId, userId, after }, now);
    return readPreferences(tx, actor, timeZone);
  });
}

function defaultsFor(timeZone: string): SettingsRow {
  return {
    timeZone,
    language: 'en',
    quietFrom: null,
    quietTo: null,
    digestAt: null,
    securityChannels: [...leastSecurityChannels],
  };
}

function toSettings({ quietFrom, quietTo, ...settings }: SettingsRow): AlertSettings {
  return {
    ...settings,
    quietHours: quietFrom === null || quietTo === null ? null : { from: quietFrom, to: quietTo },
  };
}

function readSettings(wanted: WantedPreferences, institutionsZone: string): SettingsRow {
  const defaults = defaultsFor(institutionsZone);
  const {
    timeZone = defaults.timeZone,
    language = defaults.language,
    quietHours = null,
    digestAt = null,
  } = wanted;
  const securityChannels = [...new Set(wanted.securityChannels ?? leastSecurityChannels)];
  if (!isTimeZone(timeZone))
    refuse('/timeZone', 'Must be the name of a time zone, for instance America/Chicago.');
  if (quietHours !== null && quietHours.from === quietHours.to) {
    refuse('/quietHours/to', 'Must differ from the beginning.');
  }
  if (leastSecurityChannels.some((channel) => !securityChannels.includes(channel))) {
    refuse('/securityChannels', 'Must include EMAIL and INBOX: security alerts cannot be switched off.');
  }
  return {
    timeZone,
    language,
    quietFrom: quietHours?.from ?? null,
    quietTo: quietHours?.to ?? null,
    digestAt,
    securityChannels,
  };
}

function readRule(
  { alertType, accountId, threshold, channels }: RuleOf<DecimalAmount>,
  { accounts, place }: { readonly accounts: readonly HeldAccount[]; readonly place: number },
): NewRule {
  const at = `/alerts/${place}`;
  const account = accounts.find((held) => held.accountId === accountId);
  if (account === undefined) refuse(`${at}/accountId`, 'Must be an account of the member.');
  const { accountKey, category, currency } = account;
  const isDebt = category === 'LOAN' || category === 'CREDIT';
  if (isDebt && (alertType === 'LOW_BALANCE' || alertType === 'HIGH_BALANCE')) {
    refuse(`${at}/alertType`, 'Must be another type: a loan or a credit line has no balance to fall below.');
  }
  if (category !== 'LOAN' && alertType === 'PAYMENT_DUE') {
    refuse(`${at}/alertType`, 'Must be another type: only a loan has payments that are due.');
  }
  const chosen = { accountKey, alertType, channels: [...new Set(channels)] };
  if (!thresholdTypes.has(alertType)) {
    if (threshold !== null) refuse(`${at}/threshold`, 'Must be left out for this type.');
    return { ...chosen, threshold: null };
  }
  if (threshold === null) refuse(`${at}/threshold`, 'Is required for this type.');
  const minor = toMinor(threshold, currency);
  if (typeof minor !== 'bigint') refuse(`${at}/threshold`, minor.invalid);
  return { ...chosen, threshold: minor };
}

function refuseRepeated(rules: readonly NewRule[]): void {
  const names = rules.map(({ accountKey, alertType }) => `${accountKey} ${alertType}`);
  const repeated = names.findIndex((name, place) => names.indexOf(name) < place);
  if (repeated >= 0) refuse(`/alerts/${repeated}/alertType`, 'Must be there once for an account.');
}

/** An IANA name. Offsets would pass Intl too, and know no daylight saving. */
function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return false;
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

function refuse(pointer: string, detail: string): never {
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail }],
  });
}
