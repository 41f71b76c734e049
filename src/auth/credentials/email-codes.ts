import { timingSafeEqual } from 'node:crypto';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { Actor, ClientActor } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type InstitutionId, isUniqueViolation, sqlStateOf, type Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { Vault } from '../keys/vault.ts';
import { acknowledgeCode, type CodeKind, handOverCode } from './code-handover.ts';
import { selectUserByName } from './credential-queries.ts';
import {
  countFailedEmailCode,
  deleteEmailCode,
  type EmailCodeRow,
  isFoundByEmail,
  selectEmailCode,
  selectUnverifiedEmail,
  upsertEmailCode,
  verifyEmailByCode,
} from './email-code-queries.ts';
import { newCode, readCode } from './one-time-codes.ts';

const validMillis = 24 * 60 * 60 * 1000;
const mostTries = 5;
/** Of the vault: for its hash, and for the sealed one beside the event. */
const purpose = 'e-mail code';
/** Of the trigger that keeps an address with the user who is found by it (sql/functions/members/check_verified_email.sql). */
const takenState = 'SD041';

export interface IssuedEmailCode {
  readonly code: string;
  readonly emailAddress: string;
  /** For the event that hands it over. */
  readonly sealedCode: Uint8Array;
  readonly expiresAt: Date;
}

/** A one-time code that confirms this address of the user, valid for 24 hours and five tries; ends an older one. */
export async function issueEmailCode(
  vault: Vault,
  tx: Transaction,
  userKey: bigint,
  emailAddress: string,
  at: Date,
): Promise<IssuedEmailCode> {
  const { selector, secret, code } = newCode();
  const expiresAt = new Date(at.getTime() + validMillis);
  const secretHash = vault.hash(purpose, secret);
  await upsertEmailCode(tx, tx.institutionId, { userKey, selector, secretHash, emailAddress, expiresAt });
  return { code, emailAddress, sealedCode: vault.seal(purpose, Buffer.from(code)), expiresAt };
}

/** For the command line: a new code for the address that a user has now, by user id or username. */
export async function reissueEmailCode(
  deps: AuthDeps,
  institutionId: InstitutionId,
  name: string,
  origin: Origin,
): Promise<IssuedEmailCode | 'no_such_user' | 'verified_already'> {
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, institutionId, name);
    if (user === undefined) return 'no_such_user';
    const { userKey, userId } = user;
    const emailAddress = await selectUnverifiedEmail(tx, institutionId, userKey);
    if (emailAddress === undefined) return 'verified_already';
    const entry = { action: 'user.email_code_issued', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, at);
    return issueEmailCode(deps.vault, tx, userKey, emailAddress, deps.businessTime(institutionId, at));
  });
}

/**
 * Verifies the address that the code was sent to, if the user still has it. The member does it, or a client of the
 * institution for them. Problems: `email_code_invalid` (wrong, spent, expired, tried too often, of another member, of an
 * address that was changed since, all alike), `email_taken`. Only a wrong code counts as a try.
 */
export async function confirmEmail(
  deps: AuthDeps,
  actor: Actor,
  emailCode: string,
  origin: Origin,
): Promise<{ readonly userId: string }> {
  const { institutionId, clientId } = actor;
  const found = await findEmailCode(deps, institutionId, emailCode);
  const isTheirs = actor.kind === 'client' || actor.userKey === found?.row.userKey;
  if (found === undefined || !isTheirs) throw invalidCode();
  const { row, selector } = found;
  if (!found.matches) {
    await deps.database.write(institutionId, (db) =>
      countFailedEmailCode(db, institutionId, selector, mostTries),
    );
    throw invalidCode();
  }
  const { userKey, userId, emailAddress } = row;
  const at = deps.clock();
  const businessAt = deps.businessTime(institutionId, at);
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await deleteEmailCode(tx, institutionId, selector, mostTries, businessAt))) throw invalidCode();
      if (await isFoundByEmail(tx, institutionId, emailAddress, userKey)) throw emailTaken();
      if (!(await verifyEmailByCode(tx, institutionId, userKey, emailAddress))) throw invalidCode();
      const data = { emailAddress };
      const event = { kind: 'member.email_confirmed', subjectKey: userKey, data } as const;
      await appendEvents(tx, [event], at);
      const entry = {
        action: 'user.email_confirmed',
        outcome: 'succeeded',
        clientId,
        userId,
        origin,
      } as const;
      await appendAudit(tx, entry, at);
    });
  } catch (error) {
    const lostRace =
      isUniqueViolation(error, 'users_email_confirmed_once') || sqlStateOf(error) === takenState;
    throw lostRace ? emailTaken(error) : error;
  }
  return { userId };
}

async function findEmailCode(
  { database, clock, businessTime, vault }: AuthDeps,
  institutionId: InstitutionId,
  code: string,
): Promise<{ readonly row: EmailCodeRow; readonly selector: string; readonly matches: boolean } | undefined> {
  const { selector, secret } = readCode(code);
  const row = await database.read(institutionId, (db) => selectEmailCode(db, institutionId, selector));
  if (row === undefined || row.failedTries >= mostTries) return undefined;
  if (row.expiresAt <= businessTime(institutionId, clock())) return undefined;
  return { row, selector, matches: timingSafeEqual(vault.hash(purpose, secret), row.secretHash) };
}

const emailCode: CodeKind = {
  event: 'member.email_confirmation_requested',
  purpose,
  readAs: 'user.email_code_read',
  deliveredAs: 'user.email_code_delivered',
  userOf: async (deps, institutionId, code) => {
    const found = await findEmailCode(deps, institutionId, code);
    return found?.matches ? found.row : undefined;
  },
};

/** The code of an address to be confirmed. Problem `not_found`. */
export async function getEmailCode(
  deps: AuthDeps,
  actor: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<{ readonly emailCode: string; readonly userId: string; readonly expiresAt: Date }> {
  const { code, ...rest } = await handOverCode(deps, emailCode, actor, eventId, origin);
  return { emailCode: code, ...rest };
}

/** The institution has it. Problem `not_found`. */
export function acknowledgeEmailCode(
  deps: AuthDeps,
  actor: ClientActor,
  eventId: string,
  origin: Origin,
): Promise<void> {
  return acknowledgeCode(deps, emailCode, actor, eventId, origin);
}

function invalidCode(): Problem {
  return new Problem('email_code_invalid', 'The e-mail code is wrong, spent or expired.');
}

function emailTaken(cause?: unknown): Problem {
  return new Problem('email_taken', 'Another login of the institution is found by this e-mail address.', {
    cause,
  });
}
