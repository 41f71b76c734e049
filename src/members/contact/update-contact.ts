import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import { type Actor, type BusinessTime, findInstitution, type StepUpAct } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { findAddressedUser } from '../get-profile.ts';
import { isAlike } from '../names.ts';
import { type PhoneNumber, type PhoneType, type Profile, toProfile, type User } from '../profile.ts';
import { deletePhone, lockUserRow, updateEmail, upsertPhone } from '../queries.ts';
import { toE164 } from './phone.ts';
import { type IssueEmailCode, verifyEmail } from './verify-email.ts';

export interface ContactChange {
  readonly emailAddress?: string;
  readonly phoneNumber?: string;
  /** The type of the number, by default MOBILE. Alone it changes the type of the only number. */
  readonly phoneType?: PhoneType;
}

export interface ContactDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly issueEmailCode: IssueEmailCode;
}

/**
 * Changes the given fields only. The event has the old and the new value: the institution writes to the old address, so
 * that a member notices an account take-over. Without a change there is no event. A new e-mail address is contact data at
 * once, and identifies the user once it is verified. An unverified address that is sent again gets a new code.
 *
 * Problems: `not_found` as for the profile; `invalid_request` for a number that cannot be dialled, or a type alone where
 * there is no phone or several; `insufficient_user_authentication` for a member who logged in too long ago for the
 * institution's policy.
 */
export async function updateContact(
  deps: ContactDeps,
  actor: Actor,
  customerId: string,
  change: ContactChange,
  origin: Origin,
): Promise<Profile> {
  const given = readPhone(change);
  const email = change.emailAddress?.trim();
  const { institutionId } = actor;
  const changes = [email, given, change.phoneType].some((value) => value !== undefined);
  if (changes) await requireRecentLogin(deps, actor);
  return deps.database.transaction(institutionId, async (tx) => {
    const { user: named } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    // Locked before the old value is read: of two changes at once each reports the value it really replaced.
    await lockUserRow(tx, named.userKey);
    const { user: before } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    const newEmail = email !== before.email ? email : undefined;
    const phone = given ?? retypedPhone(before, change.phoneType);
    const newPhone = phone && !hasPhone(before, phone) ? phone : undefined;
    if (newEmail !== undefined) await updateEmail(tx, before.userKey, newEmail);
    if (newPhone) {
      if (newPhone.replaces) await deletePhone(tx, before.userKey, newPhone.replaces);
      await upsertPhone(tx, before.userKey, newPhone.phoneType, newPhone.phoneNumber);
    }

    const { user: after, addressed } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    const now = deps.clock();
    const at = deps.businessTime(institutionId, now);
    if (newEmail !== undefined || newPhone !== undefined) {
      const data = { before: contactOf(before), after: contactOf(after) };
      const event = { kind: 'member.contact_changed', subjectKey: before.userKey, data } as const;
      await appendEvents(tx, [event], at);
      // The event has the values. Audit entries are kept longer, so they have the actor and the names of the fields only.
      const fields = [
        ...(newEmail === undefined ? [] : ['emailAddress']),
        ...(newPhone === undefined ? [] : [`phoneNumber ${newPhone.phoneType}`]),
      ];
      const entry = { action: 'user.contact_changed', outcome: 'succeeded', origin } as const;
      const { clientId } = actor;
      const { userId } = before;
      await appendAudit(tx, { ...entry, clientId, userId, after: { changed: fields } }, now);
    }
    if (email !== undefined && !isAlike(email, after.verifiedEmail)) {
      await verifyEmail(tx, deps.issueEmailCode, after, at);
    }
    return toProfile(after, addressed, at);
  });
}

/** RFC 9470. With the policy a stolen session changes no address. A client acts for the institution itself. */
async function requireRecentLogin({ database, clock }: ContactDeps, actor: Actor): Promise<void> {
  if (actor.kind === 'client') return;
  const institution = await database.directory((db) => findInstitution(db, actor.institutionId));
  const maxAgeSeconds = institution?.policies.contactChangeMaxAgeSeconds ?? 0;
  if (maxAgeSeconds === 0) return;
  const since = actor.authenticatedAt?.getTime() ?? Number.NEGATIVE_INFINITY;
  if (clock().getTime() - since <= maxAgeSeconds * 1000) return;
  throw new Problem('insufficient_user_authentication', 'The member must log in again before this change.', {
    members: { max_age: maxAgeSeconds, step_up: 'contact_change' satisfies StepUpAct },
  });
}

interface GivenPhone extends PhoneNumber {
  /** The type under which the same number is stored. */
  readonly replaces?: PhoneType;
}

function readPhone(change: ContactChange): GivenPhone | undefined {
  if (change.phoneNumber === undefined) return undefined;
  const phoneNumber = toE164(change.phoneNumber);
  if (phoneNumber === undefined) throw invalidPhone('Must be a phone number that can be dialled.');
  return { phoneNumber, phoneType: change.phoneType ?? 'MOBILE' };
}

/** With several phones, a type alone is ambiguous. */
function retypedPhone(user: User, phoneType: PhoneType | undefined): GivenPhone | undefined {
  if (phoneType === undefined) return undefined;
  const [only, ...others] = user.phoneNumbers;
  if (only === undefined) throw invalidPhone('Required beside phoneType: the member has no phone yet.');
  if (others.length > 0) throw invalidPhone('Required beside phoneType: the member has several phones.');
  return { phoneNumber: only.phoneNumber, phoneType, replaces: only.phoneType };
}

function invalidPhone(detail: string): Problem {
  return new Problem('invalid_request', 'The phone number is not valid.', {
    errors: [{ pointer: '/phoneNumber', detail }],
  });
}

function hasPhone(user: User, phone: { phoneNumber: string; phoneType: PhoneType }): boolean {
  return user.phoneNumbers.some(
    (known) => known.phoneType === phone.phoneType && known.phoneNumber === phone.phoneNumber,
  );
}

function contactOf(user: User) {
  return { emailAddress: user.email, phoneNumbers: user.phoneNumbers };
}
