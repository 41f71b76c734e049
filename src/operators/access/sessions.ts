import { randomBytes, randomUUID } from 'node:crypto';
import type { Vault } from '../../auth/index.ts';
import { appendAudit, type CommandOrigin, type Origin } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import type { CallerFacts } from '../../shared/seams.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../../storage/index.ts';
import type { OperatorRow } from './operator-queries.ts';
import { freshSeconds, mayUse, type Right, rights } from './rights.ts';
import {
  endSession,
  insertSession,
  noteUse,
  type SessionKind,
  type SessionRow,
  type SignInMethod,
  selectSession,
} from './session-queries.ts';

export interface AccessDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly auth: { readonly vault: Vault };
}

const lifetimeMillis = 12 * 60 * 60_000;
/** A session that is not used for this time ends (OWASP Session Management Cheat Sheet). */
const idleMillis: Readonly<Record<SessionKind, number>> = {
  BROWSER: 30 * 60_000,
  COMMAND_LINE: lifetimeMillis,
};
/** The time of the last use is as exact as this, so that most requests write nothing. */
const useMillis = 60_000;
const longestUserAgent = 256;

/** A signed-in operator. */
export interface SignedInOperator extends SessionRow {
  readonly institutionId: InstitutionId;
}

export interface SignInFrom {
  readonly origin: Origin;
  readonly userAgent: string | undefined;
  /** Called for the log with the operator who has signed in. */
  readonly recognize?: ((facts: CallerFacts) => void) | undefined;
}

/**
 * Begins a session in the transaction that found the operator. Returns the secret of its cookie or token: the institution and 256 random
 * bits, new at each sign-in, so no one can have planted it.
 */
export async function beginSession(
  tx: Transaction,
  { auth: { vault }, clock }: AccessDeps,
  {
    operator,
    kind,
    method,
    authenticatedAt = clock(),
    from: { origin, userAgent, recognize },
  }: {
    readonly operator: Pick<OperatorRow, 'operatorId' | 'name'>;
    readonly kind: SessionKind;
    readonly method: SignInMethod;
    readonly authenticatedAt?: Date;
    readonly from: SignInFrom;
  },
): Promise<string> {
  const { operatorId, name } = operator;
  const secret = `${tx.institutionId}.${randomBytes(32).toString('base64url')}`;
  const createdAt = clock();
  const expiresAt = new Date(createdAt.getTime() + lifetimeMillis);
  const sessionId = randomUUID();
  await insertSession(tx, {
    ...{ sessionId, operatorId, kind, method, authenticatedAt, createdAt, expiresAt },
    secretHash: hashOf(vault, secret),
    address: origin.address,
    userAgent: userAgent?.slice(0, longestUserAgent) ?? null,
  });
  const by: CommandOrigin = { ...origin, operator: { user: name, operatorId } };
  const entry = { action: 'operator.signed_in', outcome: 'succeeded', reason: method } as const;
  await appendAudit(tx, { ...entry, subject: sessionId, origin: by }, createdAt);
  recognize?.({ institutionId: tx.institutionId, operatorId });
  return secret;
}

/**
 * The operator of a session, with the roles of this moment: a role that was taken away, and an operator who was suspended, are refused at
 * the next request. A request that a page repeats by itself is no use of the session. Problem `invalid_token`.
 */
export async function findOperator(
  { database, clock, auth: { vault } }: AccessDeps,
  secret: string,
  isUse = true,
): Promise<SignedInOperator> {
  const institutionId = institutionOf(secret);
  const now = clock();
  const secretHash = hashOf(vault, secret);
  const session =
    institutionId &&
    (await database.read(institutionId, (db) =>
      selectSession(db, secretHash, { now, idleSince: new Date(now.getTime() - lifetimeMillis) }),
    ));
  if (!session || !institutionId || isIdle(session, now)) {
    throw new Problem('invalid_token', 'The session of the operator has ended. Sign in again.');
  }
  const isNoted = isUse && now.getTime() - session.lastUsedAt.getTime() > useMillis;
  if (isNoted) await database.write(institutionId, (db) => noteUse(db, session.sessionId, now));
  return { ...session, lastUsedAt: isNoted ? now : session.lastUsedAt, institutionId };
}

/** Whether nobody has used the session for too long. */
export function isIdle({ kind, lastUsedAt }: Pick<SessionRow, 'kind' | 'lastUsedAt'>, now: Date): boolean {
  return now.getTime() - lastUsedAt.getTime() > idleMillis[kind];
}

/** Whole seconds until the session ends if nobody uses it, and until it ends in any case. */
export function secondsLeft({ kind, lastUsedAt, expiresAt }: SignedInOperator, now: Date) {
  const until = (end: number) => Math.max(0, Math.floor((end - now.getTime()) / 1_000));
  const expiresInSeconds = until(expiresAt.getTime());
  const idleInSeconds = Math.min(expiresInSeconds, until(lastUsedAt.getTime() + idleMillis[kind]));
  return { idleInSeconds, expiresInSeconds };
}

/** Problems `insufficient_scope`, and `insufficient_user_authentication` if the right needs a more recent sign-in. */
export function requireRight(operator: SignedInOperator, right: Right, now: Date): void {
  if (!mayUse(operator.roles, right)) {
    const having = rights[right].join(' or ');
    throw new Problem(
      'insufficient_scope',
      `This needs the role ${having}; you are ${operator.roles.join(', ')}.`,
    );
  }
  const greatestAge = freshSeconds[right];
  if (greatestAge === undefined) return;
  if (now.getTime() - operator.authenticatedAt.getTime() > greatestAge * 1000) {
    const detail = `This needs a sign-in within the last ${greatestAge / 60} minutes. Sign in again, and repeat it.`;
    throw new Problem('insufficient_user_authentication', detail, { members: { max_age: greatestAge } });
  }
}

/** The person leaves. */
export function signOut(
  { database, clock }: AccessDeps,
  { institutionId, sessionId }: SignedInOperator,
  origin: CommandOrigin,
): Promise<void> {
  const at = clock();
  return database.transaction(institutionId, async (tx) => {
    if (!(await endSession(tx, sessionId, at))) return;
    const entry = {
      action: 'operator.signed_out',
      outcome: 'succeeded',
      subject: sessionId,
      origin,
    } as const;
    await appendAudit(tx, entry, at);
  });
}

/** Acts under the name of the operator. */
export function originOf({ name, operatorId }: SignedInOperator, origin: Origin): CommandOrigin {
  return { ...origin, operator: { user: name, operatorId } };
}

function institutionOf(secret: string): InstitutionId | undefined {
  const [, digits] = /^([1-9][0-9]{0,8})\.[\w-]{43}$/.exec(secret) ?? [];
  return digits === undefined ? undefined : (Number(digits) as InstitutionId);
}

function hashOf(vault: Vault, secret: string): Buffer {
  return vault.hash('operator session', secret);
}
