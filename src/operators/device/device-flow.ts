import { randomBytes, randomInt } from 'node:crypto';
import { appendAudit, type CommandOrigin, type Origin } from '../../events/index.ts';
import { findInstitutionByCode } from '../../institutions/index.ts';
import { isReadable } from '../../shared/text/readable-text.ts';
import type { InstitutionId, Transaction } from '../../storage/index.ts';
import { lockOperator } from '../access/operator-queries.ts';
import { selectSessions } from '../access/session-queries.ts';
import { beginSession, requireRight, type SignedInOperator, type SignInFrom } from '../access/sessions.ts';
import { openPage, type PasskeyDeps, sealPage } from '../passkeys/ceremony.ts';
import { lockProvider } from '../provider/provider-queries.ts';
import {
  type DeviceRequest,
  decideDevice,
  deleteDevice,
  deleteExpiredDevices,
  insertDevice,
  lockDevice,
  notePoll,
  selectByUserCode,
} from './device-queries.ts';

/* Device authorization of the command line (RFC 8628). Sections are those of the RFC. */

export const deviceClientId = 'sharedraft-cli';
const lifetimeSeconds = 600;
const intervalSeconds = 5;
/** Requests that wait at once, of an institution and of one address. */
const limits = { most: 200, mostOfAddress: 5 };
/** Section 6.1: no vowels, so no words, and nothing that looks like a digit. 20^8 codes, each for ten minutes. */
const alphabet = 'BCDFGHJKLMNPQRSTVWXZ';
const purposes = { device: 'operator device code', user: 'operator user code' } as const;

/** An error of the device or token request (sections 3.2 and 3.5, RFC 6749 section 5.2). */
export class DeviceError extends Error {
  override readonly name = 'DeviceError';
  readonly code: string;

  constructor(code: string) {
    super(`operators: device authorization: ${code}`);
    this.code = code;
  }
}

interface StartedDevice {
  readonly deviceCode: string;
  readonly userCode: string;
  readonly expiresIn: number;
  readonly interval: number;
}

/** Section 3.2. Throws DeviceError. */
export async function startDevice(
  { database, clock, auth: { vault, logins } }: PasskeyDeps,
  { institution: code, machine }: { readonly institution: string; readonly machine: string },
  { address }: Origin,
): Promise<StartedDevice> {
  const institution = await database.directory((db) => findInstitutionByCode(db, code));
  if (institution === undefined || !/^.{1,128}$/u.test(machine) || !isReadable(machine))
    throw new DeviceError('invalid_request');
  const { institutionId } = institution;
  const deviceCode = `${institutionId}.${randomBytes(32).toString('base64url')}`;
  const letters = Array.from({ length: 8 }, () => alphabet[randomInt(alphabet.length)]).join('');
  const createdAt = clock();
  const row = {
    ...{ machine, address, createdAt, intervalSeconds },
    deviceHash: vault.hash(purposes.device, deviceCode),
    userCodeHash: vault.hash(purposes.user, letters),
    expiresAt: new Date(createdAt.getTime() + lifetimeSeconds * 1000),
  };
  // Strangers poll and ask too, so they wait in the queue of sign-ins.
  const isTaken = await logins.run('operators', () =>
    database.transaction(institutionId, async (tx) => {
      await deleteExpiredDevices(tx, createdAt);
      return insertDevice(tx, row, limits);
    }),
  );
  if (!isTaken) throw new DeviceError('temporarily_unavailable');
  const userCode = `${letters.slice(0, 4)}-${letters.slice(4)}`;
  return { deviceCode, userCode, expiresIn: lifetimeSeconds, interval: intervalSeconds };
}

/**
 * Section 3.4: the session's secret once an operator has approved; the code is used up then. The operator must still be active, and the session
 * that approved must still last. Throws DeviceError: `authorization_pending`, `slow_down` (5 s more from then on), `access_denied`, `expired_token`, `invalid_grant`.
 */
export async function pollDevice(
  deps: PasskeyDeps,
  deviceCode: string,
  from: SignInFrom,
): Promise<{ readonly secret: string }> {
  const [, digits] = /^([1-9][0-9]{0,8})\.[\w-]{43}$/.exec(deviceCode) ?? [];
  if (digits === undefined) throw new DeviceError('invalid_grant');
  const institutionId = Number(digits) as InstitutionId;
  const deviceHash = deps.auth.vault.hash(purposes.device, deviceCode);
  const at = deps.clock();
  const result = await deps.auth.logins.run('operators', () =>
    deps.database.transaction(institutionId, async (tx) => {
      const request = await lockDevice(tx, deviceHash);
      if (request === undefined) return 'invalid_grant';
      if (request.expiresAt <= at) return 'expired_token';
      const { lastPolledAt, intervalSeconds: wanted } = request;
      if (lastPolledAt !== null && at.getTime() - lastPolledAt.getTime() < wanted * 1000) {
        await notePoll(tx, { deviceHash, at, intervalSeconds: Math.min(wanted + 5, 3600) });
        return 'slow_down';
      }
      if (request.isApproved === null) {
        await notePoll(tx, { deviceHash, at, intervalSeconds: wanted });
        return 'authorization_pending';
      }
      const approval = await lockApproval(tx, request, at);
      const secret = approval && (await beginSession(tx, deps, { ...approval, kind: 'COMMAND_LINE', from }));
      // Behind the session: the database looks for the approval.
      await deleteDevice(tx, deviceHash);
      return secret === undefined ? 'access_denied' : { secret };
    }),
  );
  if (typeof result === 'string') throw new DeviceError(result);
  return result;
}

/**
 * Undefined if the operator refused, is not active, or if the session that approved has ended meanwhile: by a sign-out, or by any act that ends
 * the sessions of the operator. Such an act comes before or after the whole poll, by the locks.
 */
async function lockApproval(
  tx: Transaction,
  { operatorId, isApproved, method, authenticatedAt, sessionId }: DeviceRequest,
  at: Date,
) {
  if (operatorId === null || method === null || authenticatedAt === null || sessionId === null)
    return undefined;
  const operator = await lockOperator(tx, operatorId);
  if (method === 'provider') await lockProvider(tx);
  const approving = await selectSessions(tx, [sessionId], at);
  if (!isApproved || operator?.status !== 'ACTIVE' || approving.length === 0) return undefined;
  return { operator, method, authenticatedAt };
}

/** The machine that asks, as the signed-in operator sees it before the decision (section 5.4). */
export interface AskingDevice {
  readonly request: string;
  readonly machine: string;
  readonly address: string | null;
  readonly startedAt: Date;
}

/** Undefined, alike for a wrong, expired and decided code. Problem `insufficient_user_authentication`. */
export async function findDevice(
  deps: PasskeyDeps,
  operator: SignedInOperator,
  userCode: string,
): Promise<AskingDevice | undefined> {
  requireRight(operator, 'devices:approve', deps.clock());
  const letters = userCode.toUpperCase().replaceAll(/[^A-Z]/g, '');
  const hash = deps.auth.vault.hash(purposes.user, letters);
  const found = await deps.database.read(operator.institutionId, (db) =>
    selectByUserCode(db, hash, deps.clock()),
  );
  if (found === undefined) return undefined;
  const { deviceHash, machine, address, createdAt: startedAt } = found;
  const { sessionId } = operator;
  const { request } = sealPage(deps, {
    kind: 'device',
    sessionId,
    deviceHash: deviceHash.toString('base64url'),
  });
  return { request, machine, address, startedAt };
}

/** Signs the command line in, or refuses it. False if it was decided before, or has expired. Problem as above. */
export async function answerDevice(
  deps: PasskeyDeps,
  operator: SignedInOperator,
  {
    request,
    isApproved,
    origin,
  }: { readonly request: string; readonly isApproved: boolean; readonly origin: CommandOrigin },
): Promise<boolean> {
  const now = deps.clock();
  requireRight(operator, 'devices:approve', now);
  const page = openPage(deps, 'device', request);
  if (page?.sessionId !== operator.sessionId) return false;
  const { institutionId, operatorId, method, authenticatedAt, sessionId } = operator;
  return deps.database.transaction(institutionId, async (tx) => {
    const deviceHash = Buffer.from(page.deviceHash, 'base64url');
    const machine = (await lockDevice(tx, deviceHash))?.machine;
    const decision = { operatorId, isApproved, method, authenticatedAt, sessionId, now };
    if (!(await decideDevice(tx, deviceHash, decision))) return false;
    const entry = { action: 'operator.device_decided', outcome: 'succeeded', origin } as const;
    await appendAudit(tx, { ...entry, reason: isApproved ? 'approved' : 'denied', after: { machine } }, now);
    return true;
  });
}
