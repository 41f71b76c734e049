import { appendAudit, type Origin } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { stopMailOfUser } from './stop-queries.ts';

/**
 * Takes the channel EMAIL from all rules of a member, who has the link of a message; a rule without another channel gets INBOX. Security
 * alerts go on. A repetition changes nothing.
 */
export async function stopAlertMail(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { userId, origin }: { readonly userId: string; readonly origin: Origin },
): Promise<void> {
  await database.transaction(institutionId, async (tx) => {
    const alerts = await stopMailOfUser(tx, userId);
    if (alerts === 0) return;
    const entry = { action: 'alert.mail_stopped', outcome: 'succeeded', origin, userId } as const;
    await appendAudit(tx, { ...entry, after: { alerts } }, clock());
  });
}
