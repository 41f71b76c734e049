import { MembershipExistsError, openingsUsedUp, openMembership } from '../../core-system/index.ts';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { type BusinessTime, type ClientActor, findInstitution } from '../../institutions/index.ts';
import type { PostingKeys } from '../../ledger/index.ts';
import { findMembership } from '../../memberships/index.ts';
import { Problem } from '../../shared/problem.ts';
import { uuidv7 } from '../../shared/uuid.ts';
import { type Clock, type Database, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import { type IssueEmailCode, verifyEmail } from '../contact/verify-email.ts';
import { findAddressedUser } from '../get-profile.ts';
import { type PhoneType, type Profile, toProfile } from '../profile.ts';
import { insertUser, isRegistered, upsertPhone } from '../queries.ts';
import { type ClaimedIdentity, pickPerson } from './pick-person.ts';
import { takeRegistrationTry } from './registration-tries.ts';
import { deleteTries } from './registration-try-queries.ts';

export interface Registration extends ClaimedIdentity {
  readonly memberNumber: string;
}

export interface RegisterDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly postingKeys: PostingKeys;
  readonly issueActivation: (
    tx: Transaction,
    request: { readonly userKey: bigint; readonly at: Date },
  ) => Promise<{ readonly sealedCode: Uint8Array; readonly expiresAt: Date }>;
  readonly issueEmailCode: IssueEmailCode;
}

/**
 * Gives a person of the core digital access: a user, still without credentials, and an event that carries the
 * activation code. In an institution with open enrollment an unknown member number is opened on the spot.
 *
 * Problems: `member_not_found`, `identity_mismatch`, `member_already_registered` (also for the loser of a race),
 * `too_many_requests` (the member number is paused, or the institution opens no more memberships today).
 */
export async function registerMember(
  deps: RegisterDeps,
  actor: ClientActor,
  registration: Registration,
  origin: Origin,
): Promise<Profile> {
  const { institutionId } = actor;
  const institution = await deps.database.directory((db) => findInstitution(db, institutionId));
  if (institution === undefined) throw new Error('members: a token of an institution that does not exist');
  const now = deps.clock();
  const at = deps.businessTime(institutionId, now);
  await takeRegistrationTry(deps.database, institutionId, registration.memberNumber, now);
  const openingKey = await deps.postingKeys.next();
  try {
    return await deps.database.transaction(institutionId, async (tx) => {
      const person = await findPerson(tx);
      const userId = uuidv7(at);
      const email = registration.email.trim();
      const { personKey } = person;
      const userKey = await insertUser(tx, { userId, personKey, email, at });
      if (person.phoneNumber !== null && person.phoneType !== null) {
        await upsertPhone(tx, userKey, person.phoneType as PhoneType, person.phoneNumber);
      }
      const { sealedCode, expiresAt } = await deps.issueActivation(tx, { userKey, at });
      const { user } = await findAddressedUser(tx, actor, userId, 'USER_ID');
      const addressed = user.memberships.find(
        (membership) => membership.memberNumber === registration.memberNumber,
      );
      const event = {
        kind: 'member.registered',
        subjectKey: userKey,
        data: { userId, customerId: addressed?.customerId, memberNumber: registration.memberNumber },
        secret: sealedCode,
        secretExpiresAt: expiresAt,
      };
      await appendEvents(tx, [event], at);
      await verifyEmail(tx, deps.issueEmailCode, { userKey, email }, at);
      const { clientId } = actor;
      const entry = { action: 'user.registered', outcome: 'succeeded', clientId, userId, origin } as const;
      await appendAudit(tx, entry, now);
      await deleteTries(tx, registration.memberNumber);
      return toProfile(user, addressed, at);
    });
  } catch (error) {
    if (isUniqueViolation(error) || error instanceof MembershipExistsError) throw alreadyRegistered(error);
    throw error;
  }

  async function findPerson(tx: Transaction) {
    const known = await findMembership(tx, registration.memberNumber);
    const isOpen = institution?.enrollment === 'open';
    const usedUp = isOpen ? await openingsUsedUp(tx, institution, at) : undefined;
    if (known === undefined) {
      if (!isOpen) throw new Problem('member_not_found', 'The core knows no such member number.');
      if (usedUp !== undefined) throw usedUp;
      return openMembership(tx, institution, { member: registration, postingKey: openingKey, at });
    }
    const birthDateNeeded = institution?.policies.registrationBirthDate === true;
    const person = pickPerson(known.persons, registration, { birthDateNeeded });
    if (person === undefined) {
      throw new Problem('identity_mismatch', 'The core knows this membership under another e-mail or name.');
    }
    if (await isRegistered(tx, person.personKey)) throw alreadyRegistered();
    return person;
  }
}

function alreadyRegistered(cause?: unknown): Problem {
  return new Problem('member_already_registered', 'This member is registered already.', { cause });
}
