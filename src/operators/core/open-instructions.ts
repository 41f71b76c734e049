import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import type { Database, InstitutionId } from '../../storage/index.ts';
import { listOpenInstructions } from '../../transfers/index.ts';

/** Every undecided instruction with its transfer, in the order of delivery. The audit notes the read. */
export async function* openInstructions(
  {
    database,
    auth: { audit },
  }: { readonly database: Database; readonly auth: { readonly audit: AuditTrail } },
  institutionId: InstitutionId,
  origin: CommandOrigin,
) {
  const read = { action: 'transfer.read', outcome: 'succeeded', reason: 'instructions', origin } as const;
  await audit.noteRead(institutionId, read);
  yield* listOpenInstructions(database, institutionId);
}
