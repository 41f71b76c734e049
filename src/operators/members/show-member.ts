import { alertsOfMember } from '../../alerts/index.ts';
import { type MeansOfMember, meansOfMember } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { maxFailedLogins } from '../../members/index.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { type ActivityRow, selectActivity } from './activity-queries.ts';
import { type FoundPerson, selectPersons } from './find-queries.ts';
import {
  type ConsentOfMember,
  type MembershipRow,
  type PersonRow,
  type SessionRow,
  selectAccountsOf,
  selectConsentsOf,
  selectMemberships,
  selectPerson,
  selectSessions,
} from './member-queries.ts';

/** A person with everything that an operator needs about the access to accounts. */
export interface ShownMember
  extends Pick<
      PersonRow,
      'personId' | 'firstName' | 'lastName' | 'email' | 'phoneNumber' | 'birthDate' | 'selfDeclared'
    >,
    UseOfLogin {
  readonly memberships: readonly MembershipRow[];
  readonly accounts: readonly ShownHolding[];
  /** Null: the person has not registered. */
  readonly login: ShownLogin | null;
  readonly sessions: readonly SessionRow[];
  readonly consents: readonly ConsentOfMember[];
}

/** The means of sign-in, alerts and last acts of a registered person; nothing of a person without a login. */
interface UseOfLogin extends MeansOfMember {
  readonly alerts: ShownAlerts | null;
  readonly activity: readonly ActivityRow[];
}

interface ShownAlerts extends Omit<Awaited<ReturnType<typeof alertsOfMember>>, 'rules'> {
  readonly rules: readonly {
    readonly alertType: string;
    readonly accountId: string;
    readonly threshold: string | null;
    readonly currency: string;
    readonly channels: readonly string[];
  }[];
}

interface ShownHolding {
  readonly accountId: string;
  readonly accountType: string;
  readonly memberNumber: string;
  readonly role: string;
  readonly mayPay: boolean;
  readonly closed: boolean;
  readonly delinquent: boolean;
  readonly coreRestriction: string | null;
  readonly operatorRestriction: string | null;
  readonly currency: string;
  readonly balance: string;
}

interface ShownLogin {
  readonly userId: string;
  readonly username: string | null;
  readonly email: string;
  readonly emailVerified: boolean;
  readonly registeredAt: Date;
  readonly state:
    | 'active'
    | 'not activated'
    | 'deactivated'
    | 'locked by an operator'
    | 'locked for a time'
    | 'password ended';
  readonly lockedUntil: Date | null;
  readonly failedLogins: number;
  /** End of an activation code that was issued and not used. */
  readonly activationCodeUntil: Date | null;
  /** Since when sign-in by password needs a code of an authenticator app; null: it does not. */
  readonly secondFactorSince: Date | null;
}

type Shown =
  | { readonly kind: 'found'; readonly member: ShownMember }
  | { readonly kind: 'unknown' }
  /** The text names several persons; the first hundred. */
  | { readonly kind: 'several'; readonly persons: readonly FoundPerson[] };

const mostNamed = 100;

/** Shows the person whom a member number, an e-mail address, a username or an id names. The audit records the read. */
export async function showMember(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { text, now, origin }: { readonly text: string; readonly now: Date; readonly origin: CommandOrigin },
): Promise<Shown> {
  if (text.includes('\0')) return { kind: 'unknown' };
  const shown = await database.snapshot(institutionId, async (tx): Promise<Shown> => {
    const named = await selectPersons(tx, 'identified', { text, limit: mostNamed });
    // An id is exact, also where it is another person's username.
    const persons = named.filter(({ personId }) => personId === text);
    const [only, another] = persons.length > 0 ? persons : named;
    if (only === undefined) return { kind: 'unknown' };
    if (another !== undefined) return { kind: 'several', persons: named };
    const person = await selectPerson(tx, only.personId);
    if (person === undefined) return { kind: 'unknown' };
    const [memberships, accounts, sessions, consents, use] = await Promise.all([
      selectMemberships(tx, person.personKey),
      selectAccountsOf(tx, person.personKey),
      selectSessions(tx, person.userKey, now),
      selectConsentsOf(tx, person.userKey, now),
      useOf(tx, person),
    ]);
    const { personId, firstName, lastName, email, phoneNumber, birthDate, selfDeclared } = person;
    const holdings = accounts.map(({ posted, ...one }) => ({
      ...one,
      balance: formatMinor(posted, one.currency),
    }));
    const login = loginOf(person, now);
    const facts = { personId, firstName, lastName, email, phoneNumber, birthDate, selfDeclared };
    return {
      kind: 'found',
      member: { ...facts, memberships, accounts: holdings, login, sessions, consents, ...use },
    };
  });
  if (shown.kind === 'found') {
    const { personId: subject, login } = shown.member;
    const entry = { action: 'person.read', outcome: 'succeeded', subject, userId: login?.userId } as const;
    await database.transaction(institutionId, (tx) => appendAudit(tx, { ...entry, origin }, clock()));
  }
  return shown;
}

async function useOf(db: Queryable, { userKey, personKey, userId }: PersonRow): Promise<UseOfLogin> {
  if (userKey === null || userId === null)
    return { passkeys: [], authenticator: null, devices: [], alerts: null, activity: [] };
  const [means, alerts, activity] = await Promise.all([
    meansOfMember(db, userKey),
    alertsOfMember(db, { userKey, personKey }),
    selectActivity(db, userId),
  ]);
  const rules = alerts.rules.map(({ threshold, ...rule }) => ({
    ...rule,
    threshold: threshold === null ? null : formatMinor(threshold, rule.currency),
  }));
  return { ...means, alerts: { ...alerts, rules }, activity };
}

function loginOf(row: PersonRow, now: Date): ShownLogin | null {
  if (row.userId === null || row.userEmail === null || row.createdAt === null) return null;
  return {
    userId: row.userId,
    username: row.username,
    email: row.userEmail,
    emailVerified: row.verifiedEmail !== null,
    registeredAt: row.createdAt,
    state: stateOf(row, now),
    lockedUntil: row.lockedUntil !== null && row.lockedUntil > now ? row.lockedUntil : null,
    failedLogins: row.failedLogins ?? 0,
    activationCodeUntil: row.activationCodeUntil,
    secondFactorSince: row.secondFactorSince,
  };
}

/** The first reason why the member cannot sign in. */
function stateOf(row: PersonRow, now: Date): ShownLogin['state'] {
  if (row.active === false) return 'deactivated';
  if (row.lockedByOperator === true) return 'locked by an operator';
  if (row.username === null) return 'not activated';
  if ((row.failedLogins ?? 0) >= maxFailedLogins) return 'password ended';
  return row.lockedUntil !== null && row.lockedUntil > now ? 'locked for a time' : 'active';
}
