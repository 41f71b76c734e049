import { type InstitutionId, isUniqueViolation } from '../../storage/index.ts';
import type { AuthDeps } from '../deps.ts';
import { type NewProvider, type Provider, ProviderRejected, type ProviderSettings } from './provider.ts';
import { deleteProvider, insertIssuer, insertProvider, selectProviders, updateProvider } from './queries.ts';

type RegistryDeps = Pick<AuthDeps, 'database' | 'clock'>;

/** ProviderRejected when its id, or its issuer with this audience, is registered already. */
export async function addProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  provider: NewProvider,
): Promise<void> {
  try {
    await deps.database.transaction(institutionId, async (tx) => {
      if (!(await insertIssuer(tx, institutionId, provider))) {
        throw new ProviderRejected('This issuer is registered already for this audience.');
      }
      await insertProvider(tx, institutionId, provider, deps.clock());
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw new ProviderRejected('The provider id is taken.', { cause: error });
    throw error;
  }
}

/**
 * Also switches it off and on. Identities asserted before end within a second: they name the generation that they were
 * made by. ProviderRejected when there is no such provider.
 */
export async function changeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  providerId: string,
  settings: Partial<ProviderSettings>,
): Promise<void> {
  const changed = await deps.database.transaction(institutionId, (tx) =>
    updateProvider(tx, institutionId, providerId, settings),
  );
  if (!changed) throw unknownProvider();
}

/** Identities asserted by it end within a second. ProviderRejected when there is no such provider. */
export async function removeProvider(
  deps: RegistryDeps,
  institutionId: InstitutionId,
  providerId: string,
): Promise<void> {
  const removed = await deps.database.transaction(institutionId, (tx) =>
    deleteProvider(tx, institutionId, providerId),
  );
  if (!removed) throw unknownProvider();
}

export async function listProviders(deps: RegistryDeps, institutionId: InstitutionId): Promise<Provider[]> {
  return deps.database.read(institutionId, (db) => selectProviders(db, institutionId));
}

function unknownProvider(): ProviderRejected {
  return new ProviderRejected('There is no such provider in this institution.');
}
