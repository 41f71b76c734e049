/**
 * Owns the tenant: the institution, its settings and its business days. Every other row belongs to one institution.
 *
 * Invariants: `code` and `currency` never change; the table stands in the global directory, outside row-level
 * security, because the institution must be known before anything of it can be read.
 */
export type { InstitutionId } from '../storage/index.ts';
export {
  type Acr,
  type Actor,
  type ClientActor,
  type CoveredAccounts,
  coveredKeys,
  isAcr,
  type MemberActor,
  multiFactor,
  type PresentedToken,
  type StepUpAct,
  stepUpActs,
} from './actor.ts';
export { type Brand, findBrand, findLogo, isLogo, logoHashOf, mostLogoBytes } from './brand/brand.ts';
export { colorInTheDark, consoleTones, isColor, isReadable, readColor } from './brand/color.ts';
export {
  type BusinessCalendar,
  businessDate,
  cutOff,
  federalHolidays,
  isBusinessDay,
  isWeekend,
} from './calendar.ts';
export {
  type Cell,
  closeMovedInstitution,
  copyInstitution,
  findCell,
  insertArriving,
  markCompared,
  openArrived,
  storeCell,
  updateArriving,
  updateServed,
} from './cell-queries.ts';
export { isHostName, readHostName } from './host-name.ts';
export type { NameClaims } from './name-claims.ts';
export { instantsOf, type Moment, type Period } from './period.ts';
export {
  advanceClock,
  type BusinessDay,
  findInstitution,
  findInstitutionByCode,
  type Institution,
  type InstitutionPolicies,
  type InstitutionSettings,
  insertInstitution,
  listAllInstitutions,
  listHosts,
  listInstitutions,
  lockInstitution,
  replaceBusinessDays,
  reserveInstitutionId,
  type ServedState,
  type Settings,
  selectBusinessDays,
  settingsOf,
  updateInstitution,
} from './queries.ts';
export { type BusinessTime, SandboxClocks } from './sandbox-clocks.ts';
export { refusalOf, Served } from './served.ts';
export {
  addDays,
  instantOf,
  isLocalDate,
  isTimeZone,
  type LocalDate,
  lastInstantOf,
  localDate,
} from './time-zone.ts';
