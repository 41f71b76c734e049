import {
  type AuditAction,
  type AuditEntry,
  appendAudit,
  type Origin,
  whatChanged,
} from '../../events/index.ts';
import { listHosts } from '../../institutions/index.ts';
import { type InstitutionId, isUniqueViolation, type Transaction } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { issuerAt } from '../hosts/at-host.ts';
import { type NewProvider, type Provider, ProviderRejectedError, type ProviderSettings } from './provider.ts';
import {
  deleteProvider,
  insertIssuer,
  insertProvider,
  selectProvider,
  selectProviders,
  updateProvider,
} from './queries.ts';

type RegistryDeps = Pick<AuthDeps, 'database' | 'clock' | 'issuer' | 'claims'>;

interface OperatorRequest {
  readonly providerId: string;
  readonly origin: Origin;
}

/**
 * Throws ProviderRejectedError if the id, or the issuer with this audience, is registered already. Problem `invalid_request` if another cell
 * has the issuer.
 */
export async function addProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  { provider, origin }: { readonly provider: NewProvider; readonly origin: Origin },
): Promise<void> {
  const hosts = await deps.database.directory(listHosts);
  if ([deps.issuer, ...hosts.map(({ host }) => issuerAt(host))].includes(provider.issuer))
    throw new ProviderRejectedError('That issuer is this service itself.');
  checkScopes(provider);
  await deps.claims?.provider(institutionId, provider);
  try {
    const { providerId } = provider;
    await recordChange(deps, { institutionId, action: 'provider.added', origin, providerId }, async (tx) => {
      if (!(await insertIssuer(tx, provider))) {
        throw new ProviderRejectedError('This issuer is registered already for this audience.');
      }
      await insertProvider(tx, provider, deps.clock());
      return true;
    });
  } catch (error) {
    if (isUniqueViolation(error))
      throw new ProviderRejectedError('The provider id is taken.', { cause: error });
    throw error;
  }
}

/**
 * Also switches a provider off and on. Tokens on its word end at once. Throws ProviderRejectedError if there is no
 * such provider.
 */
export async function changeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  { providerId, settings, origin }: OperatorRequest & { readonly settings: Partial<ProviderSettings> },
): Promise<void> {
  checkScopes(settings);
  await recordChange(deps, { institutionId, action: 'provider.changed', origin, providerId }, (tx) =>
    updateProvider(tx, providerId, { ...settings, at: deps.clock() }),
  );
}

/** Tokens on its word end at once. Throws ProviderRejectedError if there is no such provider. */
export async function removeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  { providerId, origin }: OperatorRequest,
): Promise<void> {
  await recordChange(deps, { institutionId, action: 'provider.removed', origin, providerId }, (tx) =>
    deleteProvider(tx, providerId),
  );
}

export async function listProviders(deps: RegistryDeps, institutionId: InstitutionId): Promise<Provider[]> {
  return deps.database.read(institutionId, selectProviders);
}

interface RecordedChange extends OperatorRequest {
  readonly institutionId: InstitutionId;
  readonly action: AuditAction;
}

/** Makes the change, which returns false if there is no such provider, and its audit entry. */
async function recordChange(
  { database, clock }: RegistryDeps,
  { institutionId, action, providerId: subject, origin }: RecordedChange,
  change: (tx: Transaction) => Promise<boolean>,
): Promise<void> {
  await database.transaction(institutionId, async (tx) => {
    const before = audited(await selectProvider(tx, subject));
    if (!(await change(tx))) {
      throw new ProviderRejectedError('There is no such provider in this institution.');
    }
    const changes = whatChanged(before, audited(await selectProvider(tx, subject)));
    const entry: AuditEntry = { action, outcome: 'succeeded', subject, origin, ...changes };
    await appendAudit(tx, entry, clock());
  });
}

/** The audit keeps the ids of keys, not the keys. */
function audited(provider: Provider | undefined) {
  if (provider === undefined) return undefined;
  const { tokensEndedAt: _, keys, ...settings } = provider;
  return { ...settings, keys: keys.map(({ kid }) => kid) };
}

function checkScopes({ scopes }: Partial<ProviderSettings>): void {
  if (scopes?.includes('offline_access')) {
    throw new ProviderRejectedError(
      'offline_access is not for a provider to give: an assertion is good for one token.',
    );
  }
}
