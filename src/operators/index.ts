/**
 * The acts and the views of an institution's operators that join several modules. Each has one face on the command line. Owns no table:
 * an act writes through the modules that own what it changes.
 *
 * Invariants: an act leaves an audit entry in its own transaction; an act that changes nothing leaves none; a view of members' data
 * is audited as a read.
 */

export { closeAccount, restrictAccount } from './accounts/change-standing.ts';
export { type ShownAccount, showAccount } from './accounts/show-account.ts';
export { selectDatabaseFacts, selectInstitutionFacts, selectKeyFacts } from './doctor/facts.ts';
export { type Finding, ok, problem, warning } from './doctor/finding.ts';
export {
  judgeDatabase,
  judgeDisk,
  judgeInstitution,
  judgeKey,
  judgeOtherKey,
  judgeWork,
} from './doctor/judge.ts';
export { tailEvents } from './events/tail-events.ts';
export { changeInstitution } from './institutions/change-institution.ts';
export { createInstitution } from './institutions/create-institution.ts';
export { type LimitsOf, showLimits } from './limits/show-limits.ts';
export { eraseMember } from './members/erase-member.ts';
export { type FoundPerson, findMembers, type SearchWay, searchWays } from './members/find-members.ts';
export { type ShownMember, showMember } from './members/show-member.ts';
export { countOtherSecrets, resealSecrets } from './secret-key/reseal-secrets.ts';
