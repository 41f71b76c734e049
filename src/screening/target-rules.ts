import type { Institution } from '../institutions/index.ts';
import type { InstitutionId } from '../storage/index.ts';
import type { TargetRules } from '../webhooks/index.ts';

/** The service's operators choose the address, which may be one inside their network, at any port. TLS is left out in a demo only. */
export async function rulesOf(
  deps: { readonly institution: (institutionId: InstitutionId) => Promise<Institution | undefined> },
  institutionId: InstitutionId,
): Promise<TargetRules> {
  const institution = await deps.institution(institutionId);
  return { demo: institution?.demo === true, ports: null, mayBeInside: true };
}
