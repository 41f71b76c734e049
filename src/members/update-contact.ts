import { appendEvents } from '../events/index.ts';
import type { Actor } from '../institutions/index.ts';
import { Problem } from '../problem.ts';
import type { Clock, Database } from '../storage/index.ts';
import { findAddressedUser } from './get-profile.ts';
import { toE164 } from './phone.ts';
import { type PhoneType, type Profile, toProfile, type User } from './profile.ts';
import { lockUserRow, updateEmail, upsertPhone } from './queries.ts';

export interface ContactChange {
  readonly emailAddress?: string;
  readonly phoneNumber?: string;
  /** Which of the user's numbers; MOBILE when left out. */
  readonly phoneType?: PhoneType;
}

/**
 * Changes what was given and nothing else; the event tells the old value and the new, which is how an account
 * take-over is noticed. Nothing given, or nothing new, makes no event. Problems: `not_found` as for the profile,
 * `invalid_request` for a number that cannot be dialled or a type without a number.
 */
export async function updateContact(
  deps: { readonly database: Database; readonly clock: Clock },
  actor: Actor,
  customerId: string,
  change: ContactChange,
): Promise<Profile> {
  const phone = readPhone(change);
  const email = change.emailAddress?.trim();
  const { institutionId } = actor;
  return deps.database.transaction(institutionId, async (tx) => {
    const { user: named } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    // Locked before the old value is read: of two changes at once each reports the value it really replaced.
    await lockUserRow(tx, institutionId, named.userKey);
    const { user: before } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    const newEmail = email !== before.email ? email : undefined;
    const newPhone = phone && !hasPhone(before, phone) ? phone : undefined;
    if (newEmail !== undefined) await updateEmail(tx, institutionId, before.userKey, newEmail);
    if (newPhone) {
      await upsertPhone(tx, institutionId, before.userKey, newPhone.phoneType, newPhone.phoneNumber);
    }

    const { user: after, addressed } = await findAddressedUser(tx, actor, customerId, 'CUSTOMER_ID');
    const at = deps.clock();
    if (newEmail !== undefined || newPhone !== undefined) {
      const data = { before: contactOf(before), after: contactOf(after) };
      const event = { kind: 'member.contact_changed', subjectKey: before.userKey, data } as const;
      await appendEvents(tx, institutionId, [event], at);
    }
    return toProfile(after, addressed, at);
  });
}

function readPhone(change: ContactChange): { phoneNumber: string; phoneType: PhoneType } | undefined {
  if (change.phoneNumber === undefined) {
    if (change.phoneType === undefined) return undefined;
    throw invalidPhone('Required beside phoneType.');
  }
  const phoneNumber = toE164(change.phoneNumber);
  if (phoneNumber === undefined) throw invalidPhone('Must be a phone number that can be dialled.');
  return { phoneNumber, phoneType: change.phoneType ?? 'MOBILE' };
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
