import { timingSafeEqual } from 'node:crypto';
import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { Actor, ClientActor } from '../../institutions/index.ts';
import {
  isFoundByEmail,
  selectUnverifiedEmail,
  selectUserByName,
  verifyEmailByCode,
} from '../../members/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type InstitutionId, isUniqueViolation, sqlStateOf, type Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import type { Vault } from '../keys/vault.ts';
import { acknowledgeCode, type CodeKind, type HandoverRequest, handOverCode } from './code-handover.ts';
import {
  countFailedEmailCode,
  deleteEmailCode,
  type EmailCodeRow,
  selectEmailCode,
  upsertEmailCode,
} from './email-code-queries.ts';
import { newCode, readCode } from './one-time-codes.ts';

const validMillis = 24 * 60 * 60 * 1000;
const maxTries = 5;
/** The vault's purpose for the code's hash and for the sealed code. */
const purpose = 'e-mail code';
/** The trigger that keeps an address with the user who has it verified. */
const takenState = 'SD041';

interface NewEmailCode {
  readonly userKey: bigint;
  readonly emailAddress: string;
  readonly at: Date;
}

export interface IssuedEmailCode {
  readonly code: string;
  readonly emailAddress: string;
  /** For the event by which the institution fetches it. */
  readonly sealedCode: Uint8Array;
  readonly expiresAt: Date;
}

/** Issues a one-time code for an address of the user, valid for 24 hours and five tries. It replaces an older one. */
export async function issueEmailCode(
  vault: Vault,
  tx: Transaction,
  { userKey, emailAddress, at }: NewEmailCode,
): Promise<IssuedEmailCode> {
  const { selector, secret, code } = newCode();
  const expiresAt = new Date(at.getTime() + validMillis);
  const secretHash = vault.hash(purpose, secret);
  await upsertEmailCode(tx, { userKey, selector, secretHash, emailAddress, expiresAt });
  return { code, emailAddress, sealedCode: vault.seal(purpose, Buffer.from(code)), expiresAt };
}

/** Issues a new code for an operator, for the user's present address. `name`: a username or a user id. */
export async function reissueEmailCode(
  deps: AuthDeps,
  institutionId: InstitutionId,
  { name, origin }: { readonly name: string; readonly origin: Origin },
): Promise<IssuedEmailCode | 'no_such_user' | 'verified_already'> {
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const user = await selectUserByName(tx, name);
    if (user === undefined) return 'no_such_user';
    const { userKey, userId } = user;
    const emailAddress = await selectUnverifiedEmail(tx, userKey);
    if (emailAddress === undefined) return 'verified_already';
    const entry = { action: 'user.email_code_issued', outcome: 'succeeded', userId, origin } as const;
    await appendAudit(tx, entry, at);
    const businessAt = deps.businessTime(institutionId, at);
    return issueEmailCode(deps.vault, tx, { userKey, emailAddress, at: businessAt });
  });
}

/**
 * Verifies the address that the code was sent to, for the member or for a client of the institution. Only a wrong code counts as
 * a try. Problems: `email_taken`; `email_code_invalid`, alike for a wrong, used or expired code, too many tries, another
 * member's code, and an address that has changed since.
 */
export async function confirmEmail(
  deps: AuthDeps,
  actor: Actor,
  { emailCode, origin }: { readonly emailCode: string; readonly origin: Origin },
): Promise<{ readonly userId: string }> {
  const { institutionId, clientId } = actor;
  const found = await findEmailCode(deps, institutionId, emailCode);
  const isTheirs = actor.kind === 'client' || actor.userKey === found?.row.userKey;
  if (found === undefined || !isTheirs) throw invalidCode();
  const { row, selector } = found;
  if (!found.matches) {
    await deps.database.write(institutionId, (db) => countFailedEmailCode(db, selector, maxTries));
    throw invalidCode();
  }
  const { userKey, userId, emailAddress } = row;
  const at = deps.clock();
  const businessAt = deps.businessTime(institutionId, at);
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await deleteEmailCode(tx, selector, { maxTries, now: businessAt }))) throw invalidCode();
      if (await isFoundByEmail(tx, emailAddress, userKey)) throw emailTaken();
      if (!(await verifyEmailByCode(tx, userKey, emailAddress))) throw invalidCode();
      const event = { kind: 'member.email_confirmed', subjectKey: userKey, data: { emailAddress } } as const;
      await appendEvents(tx, [event], at);
      const facts = { outcome: 'succeeded', clientId, userId, origin } as const;
      await appendAudit(tx, { action: 'user.email_confirmed', ...facts }, at);
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
  const row = await database.read(institutionId, (db) => selectEmailCode(db, selector));
  if (row === undefined || row.failedTries >= maxTries) return undefined;
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

/** Problem `not_found`. */
export async function getEmailCode(
  deps: AuthDeps,
  actor: ClientActor,
  request: HandoverRequest,
): Promise<{ readonly emailCode: string; readonly userId: string; readonly expiresAt: Date }> {
  const { code, ...rest } = await handOverCode(deps, emailCode, { actor, ...request });
  return { emailCode: code, ...rest };
}

/** Wipes the delivered code. Problem `not_found`. */
export function acknowledgeEmailCode(
  deps: AuthDeps,
  actor: ClientActor,
  request: HandoverRequest,
): Promise<void> {
  return acknowledgeCode(deps, emailCode, { actor, ...request });
}

function invalidCode(): Problem {
  return new Problem('email_code_invalid', 'The e-mail code is wrong, spent or expired.');
}

function emailTaken(cause?: unknown): Problem {
  return new Problem('email_taken', 'Another login of the institution is found by this e-mail address.', {
    cause,
  });
}
