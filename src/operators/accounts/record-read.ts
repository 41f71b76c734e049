import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';

/**
 * Records in the audit that an operator has read about a member's account. An account of the institution itself tells nothing about a
 * person, so reading it leaves no entry.
 */
export async function recordRead(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  {
    account,
    reason,
    origin,
  }: {
    readonly account: { readonly accountId: string; readonly purpose: string | null };
    /** The part that was read; undefined for the facts of the account. */
    readonly reason?: 'balances' | 'entries';
    readonly origin: CommandOrigin;
  },
): Promise<void> {
  if (account.purpose !== null) return;
  const entry = { action: 'account.read', outcome: 'succeeded', subject: account.accountId } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, { ...entry, reason, origin }, clock()));
}
