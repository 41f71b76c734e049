/**
 * Members: registration, profile and contact. Owns users, user_phones and registration_tries, with the columns of users that hold
 * credentials and failed logins; auth has the rules for those and calls this module to write them.
 *
 * Invariants: a person is registered once; a member sees and changes only themselves; every change of contact leaves an
 * event with the old and the new value.
 */

export { type ContactChange, updateContact } from './contact/update-contact.ts';
export {
  isFoundByEmail,
  selectUnverifiedEmail,
  verifyEmailByCode,
} from './contact/verified-email-queries.ts';
export {
  endTokens,
  insertLogin,
  lockStanding,
  type Standing,
  type StandingChange,
  selectPasswordRules,
  selectUserByName,
  updateCredentials,
  updateStanding,
} from './credential-queries.ts';
export { eraseRegistrationTries, eraseUser } from './erase-user.ts';
export { findUser } from './find-user.ts';
export { getProfile } from './get-profile.ts';
export {
  admitLogin,
  countFailedLogin,
  type LoginRow,
  maxFailedLogins,
  replacePassword,
  selectLogin,
  selectLoginOf,
} from './login-queries.ts';
export {
  type Profile,
  phoneTypes,
  type UserIdType,
  userIdTypes,
  userRoles,
} from './profile.ts';
export { selectUserId } from './queries.ts';
export { type Registration, registerMember } from './registration/register-member.ts';
export { forgetRegistrationTries } from './registration/registration-tries.ts';
