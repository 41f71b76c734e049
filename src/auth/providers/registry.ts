import {
  type AuditAction,
  type AuditEntry,
  appendAudit,
  type Origin,
  whatChanged,
} from '../../events/index.ts';
import { type InstitutionId, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type NewProvider, type Provider, ProviderRejectedError, type ProviderSettings } from './provider.ts';
import { deleteProvider, insertIssuer, insertProvider, selectProviders, updateProvider } from './queries.ts';

type RegistryDeps = Pick<AuthDeps, 'database' | 'clock' | 'issuer'>;

/** ProviderRejectedError when its id, or its issuer with this audience, is registered already. */
export async function addProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  provider: NewProvider,
  origin: Origin,
): Promise<void> {
  if (provider.issuer === deps.issuer) throw new ProviderRejectedError('That issuer is this service itself.');
  checkScopes(provider);
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await insertIssuer(tx, institutionId, provider))) {
        throw new ProviderRejectedError('This issuer is registered already for this audience.');
      }
      await insertProvider(tx, institutionId, provider, deps.clock());
      const after = await selectProvider(tx, provider.providerId);
      await record(deps, tx, 'provider.added', provider.providerId, origin, whatChanged(undefined, after));
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ProviderRejectedError('The provider id is taken.', { cause: error });
    throw error;
  }
}

/**
 * Also switches it off and on. Identities asserted before end within a second: they name the generation that they were
 * made by. ProviderRejectedError when there is no such provider.
 */
export async function changeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  providerId: string,
  settings: Partial<ProviderSettings>,
  origin: Origin,
): Promise<void> {
  checkScopes(settings);
  await deps.database.transaction(institutionId, async (tx) => {
    const before = await selectProvider(tx, providerId);
    if (!(await updateProvider(tx, institutionId, providerId, settings, deps.clock())))
      throw unknownProvider();
    const after = await selectProvider(tx, providerId);
    await record(deps, tx, 'provider.changed', providerId, origin, whatChanged(before, after));
  });
}

/** Identities asserted by it end within a second. ProviderRejectedError when there is no such provider. */
export async function removeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  providerId: string,
  origin: Origin,
): Promise<void> {
  await deps.database.transaction(institutionId, async (tx) => {
    const before = await selectProvider(tx, providerId);
    if (!(await deleteProvider(tx, institutionId, providerId))) throw unknownProvider();
    await record(deps, tx, 'provider.removed', providerId, origin, whatChanged(before, undefined));
  });
}

export async function listProviders(deps: RegistryDeps, institutionId: InstitutionId): Promise<Provider[]> {
  return deps.database.read(institutionId, (db) => selectProviders(db, institutionId));
}

function record(
  { clock }: RegistryDeps,
  tx: Transaction,
  action: AuditAction,
  subject: string,
  origin: Origin,
  change: Pick<AuditEntry, 'before' | 'after'>,
): Promise<void> {
  const entry = { action, outcome: 'succeeded', subject, origin, ...change } as const;
  return appendAudit(tx, entry, clock());
}

/** As the audit keeps it: of each key its id. */
async function selectProvider(tx: Transaction, providerId: string) {
  const all = await selectProviders(tx, tx.institutionId);
  const found = all.find((provider) => provider.providerId === providerId);
  if (found === undefined) return undefined;
  const { tokensEndedAt: _, ...settings } = found;
  return { ...settings, keys: found.keys.map(({ kid }) => kid) };
}

function unknownProvider(): ProviderRejectedError {
  return new ProviderRejectedError('There is no such provider in this institution.');
}

/** Who wants another token for an assertion brings another assertion. */
function checkScopes({ scopes }: Partial<ProviderSettings>): void {
  if (scopes?.includes('offline_access')) {
    throw new ProviderRejectedError(
      'offline_access is not for a provider to give: an assertion is good for one token.',
    );
  }
}
