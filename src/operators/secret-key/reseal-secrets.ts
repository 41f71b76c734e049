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
    for (const kind of kinds) {
      const walked = await walkKind(deps, institutionId, { kind, origin });
      keys += walked.resealed;
      lost += walked.lost;
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

interface Portion {
  readonly resealed: number;
  readonly lost: number;
  /** Seals the next portion; undefined behind the last one. */
  readonly next: Reseal | undefined;
}

type Reseal = (tx: Queryable, vault: Vault, options: { readonly write: boolean }) => Promise<Portion>;

/** The secrets of an institution, by the names under which the audit counts them. */
const kinds: readonly { readonly counted: string; readonly reseal: Reseal }[] = [
  { counted: 'webhookKeys', reseal: inPortions(resealWebhookKeys, firstKeyPlace) },
  { counted: 'screeningSecrets', reseal: atOnce(resealScreeningSecrets) },
  { counted: 'operatorProviderSecrets', reseal: atOnce(resealProviderSecret) },
  { counted: 'authenticators', reseal: inPortions(resealAuthenticators, firstSecretPlace) },
];

function inPortions<Place>(
  reseal: (
    tx: Queryable,
    vault: Vault,
    options: { readonly after: Place; readonly write: boolean },
  ) => Promise<Omit<Portion, 'next'> & { readonly after: Place | undefined }>,
  place: Place,
): Reseal {
  return async (tx, vault, { write }) => {
    const { after, ...counts } = await reseal(tx, vault, { after: place, write });
    return { ...counts, next: after === undefined ? undefined : inPortions(reseal, after) };
  };
}

function atOnce(reseal: (...given: Parameters<Reseal>) => Promise<Omit<Portion, 'next'>>): Reseal {
  return async (...given) => ({ ...(await reseal(...given)), next: undefined });
}

async function walkKind(
  { database, vault, clock }: ResealDeps,
  institutionId: InstitutionId,
  { kind, origin }: { readonly kind: (typeof kinds)[number]; readonly origin: Origin | undefined },
): Promise<{ readonly resealed: number; readonly lost: number }> {
  const write = origin !== undefined;
  const count = { resealed: 0, lost: 0 };
  for (let next: Reseal | undefined = kind.reseal; next !== undefined; ) {
    const reseal: Reseal = next;
    const portion = await within({ database, institutionId, write }, async (tx) => {
      const walked = await reseal(tx, vault, { write });
      if (write && walked.resealed > 0) {
        const entry = { action: 'secret_key.resealed', outcome: 'succeeded', origin } as const;
        await appendAudit(tx, { ...entry, after: { [kind.counted]: walked.resealed } }, clock());
      }
      return walked;
    });
    count.resealed += portion.resealed;
    count.lost += portion.lost;
    next = portion.next;
  }
  return count;
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
