import { appendAudit, appendEvents, type Origin } from '../../events/index.ts';
import type { Actor } from '../../institutions/index.ts';
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
import type { CodeKind } from './code-handover.ts';
import {
  countFailedEmailCode,
  deleteEmailCode,
  selectEmailCode,
  upsertEmailCode,
} from './email-code-queries.ts';
import { findCode, issueCode, maxTries } from './one-time-codes.ts';

const validMillis = 24 * 60 * 60 * 1000;
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
  const expiresAt = new Date(at.getTime() + validMillis);
  const issued = await issueCode(vault, { purpose, expiresAt }, (secret) =>
    upsertEmailCode(tx, { userKey, emailAddress, ...secret }),
  );
  return { ...issued, emailAddress };
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

function findEmailCode(deps: AuthDeps, institutionId: InstitutionId, text: string) {
  return findCode(deps, institutionId, { text, purpose, select: selectEmailCode });
}

export const emailCode: CodeKind = {
  events: ['member.email_confirmation_requested'],
  purpose,
  readAs: 'user.email_code_read',
  deliveredAs: 'user.email_code_delivered',
  find: findEmailCode,
};

function invalidCode(): Problem {
  return new Problem('email_code_invalid', 'The e-mail code is wrong, spent or expired.');
}

function emailTaken(cause?: unknown): Problem {
  return new Problem('email_taken', 'Another login of the institution is found by this e-mail address.', {
    cause,
  });
}
