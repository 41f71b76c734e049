import { defined } from '../shared/defined.ts';
import { type Directory, type InstitutionId, type Queryable, sql } from '../storage/index.ts';

export interface InstitutionSettings {
  readonly code: string;
  readonly name: string;
  /** ISO 4217; the default currency of amounts. */
  readonly currency: string;
  /** IANA name; determines the day of a moment. */
  readonly timeZone: string;
  /** OPEN: an unknown member number may register, and gets accounts at once. */
  readonly enrollment: 'closed' | 'open';
  readonly openingDepositMinor: bigint;
  readonly passwordMinLength: number;
  readonly demo: boolean;
  /**
   * The system that is the record of the accounts: this ledger, or the core, of which the ledger is a copy. The first import
   * fixes it; left out there, it is the ledger.
   */
  readonly record?: 'ledger' | 'core';
  /** The host name of its own; null: none. No extract has it. */
  readonly host?: string | null;
  /** The color and the logo of its pages, null: none. No extract has them. */
  readonly brandColor?: string | null;
  readonly logoHash?: string | null;
  /** A policy that is left out stays unchanged. */
  readonly policies?: Partial<InstitutionPolicies>;
}

/** Policies of an institution beyond the defaults. */
export interface InstitutionPolicies {
  /** The most seconds since a member's login for a change of contact; 0 allows any session. */
  readonly contactChangeMaxAgeSeconds: number;
  /** Registration requires the birth date if the core has no e-mail address. */
  readonly registrationBirthDate: boolean;
  /** The most memberships opened at registration per day of the institution. */
  readonly openingsPerDay: number;
  /** The most that the funding account pays for opening deposits per day. */
  readonly openingDepositsPerDayMinor: bigint;
  /** The most seconds since a member's sign-in for a transfer that needs a recent one; 0: none needs one. */
  readonly transferStepUpMaxAgeSeconds: number;
  /** Transfers above this amount need a recent sign-in. */
  readonly transferStepUpAboveMinor: bigint;
  /** So do transfers of any amount to an account that the membership has not paid before. */
  readonly transferStepUpNewDestination: boolean;
  /** The recent sign-in must be one with a passkey. */
  readonly transferStepUpPasskey: boolean;
}

/** The settings that may change after the institution was created. */
export type Settings = Pick<
  InstitutionSettings,
  'name' | 'timeZone' | 'enrollment' | 'openingDepositMinor' | 'passwordMinLength'
> &
  Pick<Institution, 'host' | 'brandColor' | 'logoHash'> &
  InstitutionPolicies;

/** The settings of an institution that may change; some are undefined in an extract that leaves them out. */
export function settingsOf(institution: Institution): Settings;
export function settingsOf(institution: InstitutionSettings): Partial<Settings>;
export function settingsOf(institution: InstitutionSettings): Partial<Settings> {
  const { name, timeZone, enrollment, openingDepositMinor, passwordMinLength, policies } = institution;
  const { host, brandColor, logoHash } = institution;
  const own = { name, timeZone, enrollment, openingDepositMinor, passwordMinLength };
  return { ...own, ...defined({ host, brandColor, logoHash }), ...policies };
}

export interface Institution extends InstitutionSettings {
  readonly institutionId: InstitutionId;
  readonly record: 'ledger' | 'core';
  readonly host: string | null;
  readonly brandColor: string | null;
  readonly logoHash: string | null;
  readonly policies: InstitutionPolicies;
  /** Seconds by which a demo institution's business time is ahead of real time; 0 for all others. */
  readonly clockAheadSeconds: bigint;
  readonly served: ServedState;
  /** The cell that it comes from or went to; null if it is served here. */
  readonly otherCell: string | null;
  /** How often it has changed its cell. Where the directory has a higher number, this database is older than the last move. */
  readonly moves: number;
}

/**
 * `arriving`: its rows are being copied from another cell. `leaving`: closed for the end of its move. `left`: served by another cell, and
 * the copy is kept. `gone`: the same without a copy.
 */
export type ServedState = 'here' | 'arriving' | 'leaving' | 'left' | 'gone';

interface Row extends Omit<Institution, 'policies'> {
  readonly contactChangeMaxAge: number;
  readonly registrationBirthDate: boolean;
  readonly openingsPerDay: number;
  readonly openingDepositsPerDay: bigint;
  readonly transferStepUpMaxAge: number;
  readonly transferStepUpAbove: bigint;
  readonly transferStepUpNewDestination: boolean;
  readonly transferStepUpPasskey: boolean;
}

const columns = `institution_id, code, name, currency, time_zone, enrollment, opening_deposit_minor,
  password_min_length, demo, contact_change_max_age, registration_birth_date, openings_per_day,
  opening_deposits_per_day, transfer_step_up_max_age, transfer_step_up_above, transfer_step_up_new_destination,
  transfer_step_up_passkey, clock_ahead_seconds, record, host, brand_color, logo_hash, served, other_cell, moves`;

const byId = sql('institutions_by_id', `select ${columns} from institutions where institution_id = $1`);
const byCode = sql('institutions_by_code', `select ${columns} from institutions where code = $1`);
const served = sql(
  'institutions_served',
  `select ${columns} from institutions where served = 'here' order by code`,
);
const all = sql('institutions_all', `select ${columns} from institutions order by code`);

export async function findInstitution(
  db: Directory,
  institutionId: InstitutionId,
): Promise<Institution | undefined> {
  return (await db.query<Row>(byId, [institutionId])).rows.map(toInstitution)[0];
}

export async function findInstitutionByCode(db: Directory, code: string): Promise<Institution | undefined> {
  return (await db.query<Row>(byCode, [code])).rows.map(toInstitution)[0];
}

/** Those that this cell serves. */
export async function listInstitutions(db: Directory): Promise<Institution[]> {
  return (await db.query<Row>(served)).rows.map(toInstitution);
}

/** Also those that are arriving, leaving, or at another cell. */
export async function listAllInstitutions(db: Directory): Promise<Institution[]> {
  return (await db.query<Row>(all)).rows.map(toInstitution);
}

type HostRow = Pick<Institution, 'institutionId' | 'served'> & { readonly host: string };

const hosts = sql(
  'institutions_hosts',
  `select host, institution_id, served from institutions where host is not null order by served <> 'gone'`,
);

/**
 * The host names, also those of institutions that are arriving, leaving, or at another cell. One that is gone may have given its name up
 * there; it comes before the institution that has the name here now.
 */
export async function listHosts(db: Directory): Promise<HostRow[]> {
  return (await db.query<HostRow>(hosts)).rows;
}

const insert = sql(
  'institutions_insert',
  `insert into institutions (institution_id, code, name, currency, time_zone, enrollment, opening_deposit_minor,
                             password_min_length, demo, created_at, contact_change_max_age,
                             registration_birth_date, openings_per_day, opening_deposits_per_day, record)
   overriding system value
   values (coalesce($14, nextval('institutions_institution_id_seq')::integer), $1, $2, $3, $4, $5, $6, $7, $8, $9, coalesce($10, 0), coalesce($11, false), coalesce($12, 1000),
           coalesce($13::bigint, 100000000), coalesce($15, 'ledger'))
   returning ${columns}`,
);

/** Creates the institution, under a reserved number if one is given. A unique violation if the code is taken. */
export async function insertInstitution(
  db: Directory,
  settings: InstitutionSettings,
  at: Date,
  reserved?: InstitutionId,
): Promise<Institution> {
  const { policies } = settings;
  const { rows } = await db.query<Row>(insert, [
    settings.code,
    settings.name,
    settings.currency,
    settings.timeZone,
    settings.enrollment,
    settings.openingDepositMinor,
    settings.passwordMinLength,
    settings.demo,
    at,
    policies?.contactChangeMaxAgeSeconds ?? null,
    policies?.registrationBirthDate ?? null,
    policies?.openingsPerDay ?? null,
    policies?.openingDepositsPerDayMinor ?? null,
    reserved ?? null,
    settings.record ?? null,
  ]);
  return toInstitution(rows[0] as Row);
}

const reserve = sql(
  'institutions_reserve_id',
  `select nextval('institutions_institution_id_seq')::integer as institution_id`,
);

/** A number for an institution that is about to be created. */
export async function reserveInstitutionId(db: Directory): Promise<InstitutionId> {
  const { rows } = await db.query<{ institutionId: InstitutionId }>(reserve);
  return (rows[0] as { institutionId: InstitutionId }).institutionId;
}

const lock = sql(
  'institutions_lock',
  `select ${columns} from institutions where institution_id = $1 for no key update`,
);

/** The institution as it stands until the transaction ends. */
export async function lockInstitution(tx: Queryable): Promise<Institution> {
  return (await tx.query<Row>(lock, [tx.institutionId])).rows.map(toInstitution)[0] as Institution;
}

const change = sql(
  'institutions_change',
  `update institutions
   set name = coalesce($2, name), time_zone = coalesce($3, time_zone), enrollment = coalesce($4, enrollment),
       opening_deposit_minor = coalesce($5, opening_deposit_minor),
       password_min_length = coalesce($6, password_min_length),
       contact_change_max_age = coalesce($7, contact_change_max_age),
       registration_birth_date = coalesce($8, registration_birth_date),
       openings_per_day = coalesce($9, openings_per_day),
       opening_deposits_per_day = coalesce($10, opening_deposits_per_day),
       transfer_step_up_max_age = coalesce($11, transfer_step_up_max_age),
       transfer_step_up_above = coalesce($12, transfer_step_up_above),
       transfer_step_up_new_destination = coalesce($13, transfer_step_up_new_destination),
       transfer_step_up_passkey = coalesce($14, transfer_step_up_passkey),
       host = case when $15 then $16 else host end,
       brand_color = case when $17 then $18 else brand_color end,
       logo_hash = case when $19 then $20 else logo_hash end, logo = case when $19 then $21 else logo end,
       transfer_step_up_from = case
         when num_nonnulls($11::integer, $12::bigint, $14::boolean) > 0 then now() + interval '30 seconds'
         else transfer_step_up_from end
   where institution_id = $1
   returning ${columns}`,
);

/**
 * Settings that are left out stay as they are. A unique violation of `institutions_host_is_free` if another institution has the host. The
 * logo is that of `logoHash`.
 */
export async function updateInstitution(
  tx: Queryable,
  settings: Partial<Settings>,
  logo: Uint8Array | null = null,
): Promise<Institution> {
  const { rows } = await tx.query<Row>(change, [
    tx.institutionId,
    settings.name,
    settings.timeZone,
    settings.enrollment,
    settings.openingDepositMinor,
    settings.passwordMinLength,
    settings.contactChangeMaxAgeSeconds,
    settings.registrationBirthDate,
    settings.openingsPerDay,
    settings.openingDepositsPerDayMinor,
    settings.transferStepUpMaxAgeSeconds,
    settings.transferStepUpAboveMinor,
    settings.transferStepUpNewDestination,
    settings.transferStepUpPasskey,
    settings.host !== undefined,
    settings.host ?? null,
    settings.brandColor !== undefined,
    settings.brandColor ?? null,
    settings.logoHash !== undefined,
    settings.logoHash ?? null,
    logo,
  ]);
  return toInstitution(rows[0] as Row);
}

function toInstitution(row: Row): Institution {
  const {
    contactChangeMaxAge,
    registrationBirthDate,
    openingsPerDay,
    openingDepositsPerDay,
    transferStepUpMaxAge,
    transferStepUpAbove,
    transferStepUpNewDestination,
    transferStepUpPasskey,
    ...institution
  } = row;
  return {
    ...institution,
    policies: {
      contactChangeMaxAgeSeconds: contactChangeMaxAge,
      registrationBirthDate,
      openingsPerDay,
      openingDepositsPerDayMinor: openingDepositsPerDay,
      transferStepUpMaxAgeSeconds: transferStepUpMaxAge,
      transferStepUpAboveMinor: transferStepUpAbove,
      transferStepUpNewDestination,
      transferStepUpPasskey,
    },
  };
}

const advance = sql(
  'institutions_advance_clock',
  `update institutions set clock_ahead_seconds = clock_ahead_seconds + $2
   where institution_id = $1 returning clock_ahead_seconds`,
);

/** Moves a demo institution's business time forward, and returns its offset. The database refuses other institutions. */
export async function advanceClock(db: Queryable, seconds: bigint): Promise<bigint> {
  const { rows } = await db.query<{ clockAheadSeconds: bigint }>(advance, [db.institutionId, seconds]);
  const row = rows[0];
  if (row === undefined) throw new Error('institutions: the one whose clock moves does not exist');
  return row.clockAheadSeconds;
}

/** An exception of the institution to the holiday calendar. */
export interface BusinessDay {
  /** YYYY-MM-DD */
  readonly day: string;
  readonly open: boolean;
}

const businessDays = sql(
  'institutions_business_days',
  'select day, open from business_days where institution_id = $1 order by day',
);

export async function selectBusinessDays(db: Queryable): Promise<BusinessDay[]> {
  return (await db.query<BusinessDay>(businessDays, [db.institutionId])).rows;
}

const removeBusinessDays = sql(
  'institutions_remove_business_days',
  'delete from business_days where institution_id = $1',
);
const addBusinessDays = sql(
  'institutions_add_business_days',
  `insert into business_days (institution_id, day, open)
   select $1, v.* from unnest($2::date[], $3::boolean[]) as v`,
);

/** Replaces all exceptions by these. */
export async function replaceBusinessDays(tx: Queryable, days: readonly BusinessDay[]): Promise<void> {
  await tx.query(removeBusinessDays, [tx.institutionId]);
  await tx.query(addBusinessDays, [
    tx.institutionId,
    days.map((row) => row.day),
    days.map((row) => row.open),
  ]);
}
