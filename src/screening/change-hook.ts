import { randomBytes } from 'node:crypto';
import type { Vault } from '../auth/index.ts';
import { type AuditAction, type AuditEntry, appendAudit, type Origin, whatChanged } from '../events/index.ts';
import type { Institution } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../storage/index.ts';
import { secretText, targetRefusal } from '../webhooks/index.ts';
import {
  deleteHook,
  type HookSettings,
  lockHook,
  selectHook,
  updateSecrets,
  upsertHook,
} from './hook-queries.ts';
import { rulesOf } from './target-rules.ts';

export interface ScreeningDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly vault: Vault;
  readonly institution: (institutionId: InstitutionId) => Promise<Institution | undefined>;
}

/** A sealed secret opens for screening only. */
export const secretPurpose = 'screening secret';
const secretBytes = 32;

/** Undefined if the institution screens no orders. */
export async function findScreening(
  { database }: Pick<ScreeningDeps, 'database'>,
  institutionId: InstitutionId,
): Promise<HookSettings | undefined> {
  return database.read(institutionId, selectHook);
}

/**
 * Screens the institution's orders at this address from now on. Returns the secret that signs the requests if it is new; it is
 * shown this once. Problem `invalid_request`.
 */
export async function setScreening(
  deps: ScreeningDeps,
  institutionId: InstitutionId,
  { settings, origin }: { readonly settings: HookSettings; readonly origin: Origin },
): Promise<{ readonly secret: string | undefined }> {
  await requireTarget(deps, institutionId, settings.url);
  const secret = randomBytes(secretBytes);
  return deps.database.transaction(institutionId, async (tx) => {
    const before = await lockHook(tx);
    await upsertHook(tx, settings, deps.vault.seal(secretPurpose, secret));
    const changes = whatChanged(before && audited(before), audited(settings));
    await record(deps, tx, { action: 'screening.changed', origin, ...changes });
    return { secret: before === undefined ? secretText(secret) : undefined };
  });
}

/** Changes the settings that are given, except for the address. Returns all of them. Problem `not_found`. */
export async function changeScreening(
  deps: ScreeningDeps,
  institutionId: InstitutionId,
  { change, origin }: { readonly change: Partial<Omit<HookSettings, 'url'>>; readonly origin: Origin },
): Promise<HookSettings> {
  return deps.database.transaction(institutionId, async (tx) => {
    const before = (await lockHook(tx)) ?? refuseUnknown();
    const { url, fromMinor, timeoutMillis, onSilence, holdSeconds } = { ...before, ...change };
    const settings = { url, fromMinor, timeoutMillis, onSilence, holdSeconds };
    const changes = whatChanged(audited(before), audited(settings));
    if (Object.keys(changes.after ?? {}).length > 0) {
      await upsertHook(tx, settings, before.sealedSecret);
      await record(deps, tx, { action: 'screening.changed', origin, ...changes });
    }
    return settings;
  });
}

/** A new secret signs beside the current one until that ends. Problems `not_found`, `rotation_under_way`. */
export async function rotateScreeningSecret(
  deps: ScreeningDeps,
  institutionId: InstitutionId,
  { overlapHours, origin }: { readonly overlapHours: number; readonly origin: Origin },
): Promise<{ readonly secret: string }> {
  const { vault, clock } = deps;
  const secret = randomBytes(secretBytes);
  return deps.database.transaction(institutionId, async (tx) => {
    const { sealedSecret: sealedPrevious, previousUntil: endsAt } = (await lockHook(tx)) ?? refuseUnknown();
    const now = clock();
    if (endsAt !== null && endsAt > now) {
      throw new Problem('rotation_under_way', 'Two secrets are valid. Wait until the older one has ended.');
    }
    const previousUntil = new Date(now.getTime() + overlapHours * 3_600_000);
    const sealedSecret = vault.seal(secretPurpose, secret);
    await updateSecrets(tx, { sealedSecret, sealedPrevious, previousUntil });
    await record(deps, tx, { action: 'screening.rotated', origin, after: { overlapHours } });
    return { secret: secretText(secret) };
  });
}

/** From now on no order is screened. Transfers that wait for a review go on waiting. Problem `not_found`. */
export async function removeScreening(
  deps: ScreeningDeps,
  institutionId: InstitutionId,
  origin: Origin,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const before = (await lockHook(tx)) ?? refuseUnknown();
    await deleteHook(tx);
    await record(deps, tx, {
      action: 'screening.removed',
      origin,
      ...whatChanged(audited(before), undefined),
    });
  });
}

function refuseUnknown(): never {
  throw new Problem('not_found', 'The institution screens no orders.');
}

const refusals = {
  malformed: 'Must be an absolute URL without a user, a password or a fragment.',
  scheme: 'Must begin with https://.',
} as const;

async function requireTarget(deps: ScreeningDeps, institutionId: InstitutionId, url: string): Promise<void> {
  const refusal = targetRefusal(url, await rulesOf(deps, institutionId));
  if (refusal === undefined) return;
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer: '/url', detail: refusal === 'scheme' ? refusals.scheme : refusals.malformed }],
  });
}

/** The settings as the audit shows them; an amount is text, since JSON has no such integers. */
function audited({ url, fromMinor, timeoutMillis, onSilence, holdSeconds }: HookSettings) {
  return { url, fromMinor: String(fromMinor), timeoutMillis, onSilence, holdSeconds };
}

async function record(
  { clock }: Pick<ScreeningDeps, 'clock'>,
  tx: Transaction,
  entry: Pick<AuditEntry, 'before' | 'after'> & { readonly action: AuditAction; readonly origin: Origin },
): Promise<void> {
  await appendAudit(tx, { ...entry, outcome: 'succeeded' }, clock());
}
