import type { InstitutionId } from '../storage/index.ts';

/**
 * Reserves names that are unique over all cells, before they are written here. Problem `invalid_request` for one that another institution
 * has, `database_unavailable` while the directory of the cells is away.
 */
export interface NameClaims {
  /** The number for a new institution of this code. A claim that was interrupted is taken up again, so it keeps its number. */
  institution(code: string): Promise<InstitutionId>;
  host(institutionId: InstitutionId, host: string): Promise<void>;
  client(institutionId: InstitutionId, clientId: string): Promise<void>;
  provider(
    institutionId: InstitutionId,
    provider: { readonly issuer: string; readonly audience: string },
  ): Promise<void>;
}
