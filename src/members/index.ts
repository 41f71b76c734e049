/**
 * Members: registering, the profile, and their contact.
 *
 * Invariants: a person is registered once; a member sees and changes only themselves; every change of contact leaves an
 * event with the old and the new value.
 */
export { findUser } from './find-user.ts';
export { getProfile } from './get-profile.ts';
export {
  type Profile,
  phoneTypes,
  type UserIdType,
  userIdTypes,
  userRoles,
} from './profile.ts';
export { selectUserId } from './queries.ts';
export { type Registration, registerMember } from './register-member.ts';
export { forgetRegistrationTries } from './registration-tries.ts';
export { type ContactChange, updateContact } from './update-contact.ts';
