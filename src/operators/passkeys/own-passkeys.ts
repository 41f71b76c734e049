import { randomUUID } from 'node:crypto';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { Problem } from '../../shared/problem.ts';
import { lockOperator } from '../access/operator-queries.ts';
import { endOtherSessionsOf, selectSessions } from '../access/session-queries.ts';
import { requireRight, type SignedInOperator } from '../access/sessions.ts';
import {
  enrollmentOptions,
  openPage,
  type PasskeyDeps,
  readEnrollment,
  sealPage,
  spend,
} from './ceremony.ts';
import { deletePasskey, insertPasskey, type OwnPasskey, selectPasskeys } from './passkey-queries.ts';

const mostPasskeys = 10;

export function listOwnPasskeys(
  { database }: PasskeyDeps,
  { institutionId, operatorId }: SignedInOperator,
): Promise<OwnPasskey[]> {
  return database.read(institutionId, (db) => selectPasskeys(db, operatorId));
}

/** The page of an operator's own passkeys. It belongs to one session. */
export interface PasskeysPage {
  readonly name: string;
  readonly passkeys: readonly OwnPasskey[];
  readonly request: string;
  /** Undefined: the operator signs in another way, or has ten. */
  readonly options: object | undefined;
}

/** Problem `insufficient_user_authentication` for a session that was left open. */
export async function openOwnPasskeys(deps: PasskeyDeps, operator: SignedInOperator): Promise<PasskeysPage> {
  requireRight(operator, 'passkeys:own', deps.clock());
  const { institutionId, operatorId, name, sessionId } = operator;
  const passkeys = await listOwnPasskeys(deps, operator);
  const { request, challenge } = sealPage(deps, { kind: 'passkeys', sessionId });
  const existing = passkeys.map(({ credentialId }) => credentialId);
  const mayAdd = operator.method === 'passkey' && passkeys.length < mostPasskeys;
  const options = mayAdd
    ? await enrollmentOptions(deps, institutionId, { operatorId, name, challenge, existing })
    : undefined;
  return { name, passkeys, request, options };
}

/** False if the page or the passkey is not valid. Problem as above. */
export async function addOwnPasskey(
  deps: PasskeyDeps,
  operator: SignedInOperator,
  {
    origin,
    ...sent
  }: {
    readonly request: string;
    readonly credential: string;
    readonly name: string;
    readonly origin: CommandOrigin;
  },
): Promise<boolean> {
  requireRight(operator, 'passkeys:own', deps.clock());
  const page = openPage(deps, 'passkeys', sent.request);
  if (page?.sessionId !== operator.sessionId) return false;
  const key = await readEnrollment(deps, sent, page.challenge);
  if (key === undefined) return false;
  const { institutionId, operatorId, sessionId } = operator;
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    const own = await lockOperator(tx, operatorId);
    // A new invitation at this moment has removed all passkeys, and ended the session that would add one.
    const lasting = await selectSessions(tx, [sessionId], at);
    if (own?.status !== 'ACTIVE' || own.source !== 'INVITATION' || lasting.length === 0) return false;
    if (!(await spend(tx, page))) return false;
    const passkeyId = randomUUID();
    if (!(await insertPasskey(tx, { ...key, passkeyId, operatorId, createdAt: at }))) return false;
    const entry = { action: 'operator.passkey_added', outcome: 'succeeded', subject: passkeyId } as const;
    await appendAudit(tx, { ...entry, origin }, at);
    return true;
  });
}

/**
 * Removes a passkey, for example of a lost device, and ends the operator's other sessions. The last one stays, since nothing else signs the
 * operator in: problem `act_refused`. False: the operator has no such passkey.
 */
export async function removeOwnPasskey(
  deps: PasskeyDeps,
  operator: SignedInOperator,
  { passkeyId, origin }: { readonly passkeyId: string; readonly origin: CommandOrigin },
): Promise<boolean> {
  requireRight(operator, 'passkeys:own', deps.clock());
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(passkeyId)) return false;
  const { institutionId, operatorId, sessionId } = operator;
  const at = deps.clock();
  return deps.database.transaction(institutionId, async (tx) => {
    // Of two removals at once, the second sees the first.
    await lockOperator(tx, operatorId);
    const all = await selectPasskeys(tx, operatorId);
    if (!all.some((one) => one.passkeyId === passkeyId)) return false;
    if (all.length === 1)
      throw new Problem('act_refused', 'This is your only passkey. Add another one before you remove it.');
    await deletePasskey(tx, operatorId, passkeyId);
    await endOtherSessionsOf(tx, { operatorId, sessionId }, at);
    const entry = { action: 'operator.passkey_removed', outcome: 'succeeded', subject: passkeyId } as const;
    await appendAudit(tx, { ...entry, origin }, at);
    return true;
  });
}
