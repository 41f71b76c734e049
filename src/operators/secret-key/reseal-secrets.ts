import {
  activationCode,
  emailCode,
  firstSecretPlace,
  resealAuthenticators,
  resealKeys,
  type Vault,
} from '../../auth/index.ts';
import { appendAudit, type Origin, resealAuditKeys, wholeService } from '../../events/index.ts';
import { listInstitutions } from '../../institutions/index.ts';
import { resealScreeningSecrets } from '../../screening/index.ts';
import type { Clock, Database, InstitutionId, Queryable } from '../../storage/index.ts';
import { firstKeyPlace, resealWebhookKeys } from '../../webhooks/index.ts';
import { resealProviderSecret } from '../provider/reseal-provider-secret.ts';
import { selectPendingCodes } from './code-queries.ts';

export interface SealedSecrets {
  /** Keys of the service, of webhooks, of screening, of operators' providers and of authenticator apps that were sealed under SECRET_KEY_OTHER. */
  readonly keys: number;
  /** Those of institutions that neither key opens, since a SECRET_KEY was lost. */
  readonly lost: number;
  /** The expiry of the last one-time code under SECRET_KEY_OTHER. Codes are not sealed again: they end within days. */
  readonly codesUntil: Date | undefined;
}

interface ResealDeps {
  readonly database: Database;
  readonly vault: Vault;
  readonly clock: Clock;
}

/**
 * Seals every stored secret under SECRET_KEY that only SECRET_KEY_OTHER opens, a hundred a transaction, each with its audit entry. An
 * interrupted run goes on at the next one, since a secret under SECRET_KEY is left alone.
 */
export async function resealSecrets(deps: ResealDeps, origin: Origin): Promise<SealedSecrets> {
  return walkSecrets(deps, origin);
}

/** The same without a change: the secrets for which SECRET_KEY_OTHER is still needed. */
export async function countOtherSecrets(deps: ResealDeps): Promise<SealedSecrets> {
  return walkSecrets(deps, undefined);
}

/** Writes nothing without an origin. */
async function walkSecrets(deps: ResealDeps, origin: Origin | undefined): Promise<SealedSecrets> {
  const { database, vault, clock } = deps;
  const write = origin !== undefined;
  let keys = await within({ database, institutionId: wholeService, write }, async (tx) => {
    const resealed = (await resealKeys(tx, vault, { write })) + (await resealAuditKeys(tx, vault, { write }));
    if (write && resealed > 0) {
      const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
      await appendAudit(tx, { ...entry, after: { serviceKeys: resealed } }, clock());
    }
    return resealed;
  });
  let lost = 0;
  let codesUntil: Date | undefined;
  for (const { institutionId } of await database.directory(listInstitutions)) {
    const walked = await walkWebhookKeys(deps, institutionId, origin);
    const screened = await walkScreening(deps, institutionId, origin);
    const provided = await walkProvider(deps, institutionId, origin);
    const apps = await walkAuthenticators(deps, institutionId, origin);
    for (const one of [walked, screened, provided, apps]) {
      keys += one.resealed;
      lost += one.lost;
    }
    const until = await lastOtherCode(deps, institutionId);
    if (until !== undefined && (codesUntil === undefined || until > codesUntil)) codesUntil = until;
  }
  return { keys, lost, codesUntil };
}

interface WalkPart {
  readonly database: Database;
  readonly institutionId: InstitutionId;
  readonly write: boolean;
}

function within<T>(
  { database, institutionId, write }: WalkPart,
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  return write ? database.transaction(institutionId, work) : database.read(institutionId, work);
}

async function walkWebhookKeys(
  { database, vault, clock }: ResealDeps,
  institutionId: InstitutionId,
  origin: Origin | undefined,
): Promise<{ readonly resealed: number; readonly lost: number }> {
  const write = origin !== undefined;
  const count = { resealed: 0, lost: 0 };
  for (let after: typeof firstKeyPlace | undefined = firstKeyPlace; after !== undefined; ) {
    const place: typeof firstKeyPlace = after;
    const batch = await within({ database, institutionId, write }, async (tx) => {
      const walked = await resealWebhookKeys(tx, vault, { after: place, write });
      if (write && walked.resealed > 0) {
        const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
        await appendAudit(tx, { ...entry, after: { webhookKeys: walked.resealed } }, clock());
      }
      return walked;
    });
    count.resealed += batch.resealed;
    count.lost += batch.lost;
    after = batch.after;
  }
  return count;
}

async function walkAuthenticators(
  { database, vault, clock }: ResealDeps,
  institutionId: InstitutionId,
  origin: Origin | undefined,
): Promise<{ readonly resealed: number; readonly lost: number }> {
  const write = origin !== undefined;
  const count = { resealed: 0, lost: 0 };
  for (let after: bigint | undefined = firstSecretPlace; after !== undefined; ) {
    const place: bigint = after;
    const batch = await within({ database, institutionId, write }, async (tx) => {
      const walked = await resealAuthenticators(tx, vault, { after: place, write });
      if (write && walked.resealed > 0) {
        const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
        await appendAudit(tx, { ...entry, after: { authenticators: walked.resealed } }, clock());
      }
      return walked;
    });
    count.resealed += batch.resealed;
    count.lost += batch.lost;
    after = batch.after;
  }
  return count;
}

async function walkScreening(
  { database, vault, clock }: ResealDeps,
  institutionId: InstitutionId,
  origin: Origin | undefined,
): Promise<{ readonly resealed: number; readonly lost: number }> {
  const write = origin !== undefined;
  return within({ database, institutionId, write }, async (tx) => {
    const walked = await resealScreeningSecrets(tx, vault, { write });
    if (write && walked.resealed > 0) {
      const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
      await appendAudit(tx, { ...entry, after: { screeningSecrets: walked.resealed } }, clock());
    }
    return walked;
  });
}

async function walkProvider(
  { database, vault, clock }: ResealDeps,
  institutionId: InstitutionId,
  origin: Origin | undefined,
): Promise<{ readonly resealed: number; readonly lost: number }> {
  const write = origin !== undefined;
  return within({ database, institutionId, write }, async (tx) => {
    const walked = await resealProviderSecret(tx, vault, { write });
    if (write && walked.resealed > 0) {
      const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
      await appendAudit(tx, { ...entry, after: { operatorProviderSecrets: walked.resealed } }, clock());
    }
    return walked;
  });
}

async function lastOtherCode(
  { database, vault }: ResealDeps,
  institutionId: InstitutionId,
): Promise<Date | undefined> {
  const codes = await database.read(institutionId, selectPendingCodes);
  const isUnderOther = ({ kind, secret }: (typeof codes)[number]) => {
    const { purpose } = activationCode.events.some((event) => event === kind) ? activationCode : emailCode;
    try {
      return vault.reseal(purpose, secret) !== undefined;
    } catch {
      // Under a SECRET_KEY that was lost: neither key opens it.
      return false;
    }
  };
  return codes.find(isUnderOther)?.expiresAt;
}
