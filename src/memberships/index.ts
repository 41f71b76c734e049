/**
 * Persons, memberships (customers) and the persons of each membership. The import of the core system's extracts and enrollment write
 * them through this module.
 */
export { erasePerson, lockPerson } from './erase-person.ts';
export {
  type Change,
  countMembershipChanges,
  countOf,
  countPersonChanges,
  type KeyRange,
  mergeMembershipRange,
  mergePersonRange,
  noChange,
} from './merge-queries.ts';
export { findMembership, insertMembership, type MembershipPerson } from './queries.ts';
