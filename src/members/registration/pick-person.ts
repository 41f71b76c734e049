import type { MembershipPerson } from '../../memberships/index.ts';

export interface ClaimedIdentity {
  readonly email: string;
  readonly firstName?: string;
  readonly lastName?: string;
  /** YYYY-MM-DD */
  readonly birthDate?: string;
}

/**
 * Picks the person of a membership who registers: the person with the e-mail (of several, the names decide, then the role
 * PRIMARY); otherwise the PRIMARY person, if the core has no e-mail for them. The institution may then require the birth
 * date. Returns undefined if a claim contradicts the core, or fits several persons.
 */
export function pickPerson(
  persons: readonly MembershipPerson[],
  claimed: ClaimedIdentity,
  { birthDateNeeded = false } = {},
): MembershipPerson | undefined {
  const byEmail = persons.filter((person) => person.email !== null && same(person.email, claimed.email));
  const candidates =
    byEmail.length > 0
      ? byEmail
      : persons.filter(
          (person) =>
            person.email === null &&
            person.role === 'PRIMARY' &&
            (!birthDateNeeded || (person.birthDate !== null && person.birthDate === claimed.birthDate)),
        );
  const agreeing = candidates.filter((person) => agrees(person, claimed));
  const [only, another] = agreeing;
  return agreeing.find((person) => person.role === 'PRIMARY') ?? (another === undefined ? only : undefined);
}

function agrees(person: MembershipPerson, claimed: ClaimedIdentity): boolean {
  return (
    (claimed.firstName === undefined || same(person.firstName, claimed.firstName)) &&
    (claimed.lastName === undefined || same(person.lastName, claimed.lastName)) &&
    (claimed.birthDate === undefined || person.birthDate === null || claimed.birthDate === person.birthDate)
  );
}

function same(a: string, b: string): boolean {
  return fold(a) === fold(b);
}

function fold(text: string): string {
  return text.trim().normalize('NFC').toLowerCase();
}
