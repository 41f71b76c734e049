import { randomUUID } from 'node:crypto';
import type { Operator, Origin } from '../../src/events/index.ts';
import type { InstitutionId } from '../../src/storage/index.ts';
import type { TestDatabase } from './database.ts';

/** The operator of a command run by a system user, without asking the operating system. */
export function commandOf(
  user: string,
  { transactionId = randomUUID(), ...more }: Partial<Operator> & { readonly transactionId?: string } = {},
): Origin & { readonly operator: Operator } {
  return { transactionId, address: null, operator: { user, host: 'teller-1', ...more } };
}

/** Ann proposed to reverse these transfers, and Bob confirmed it: dual control requires it before the batch. */
export async function agreeToReverse(
  db: TestDatabase,
  institutionId: InstitutionId,
  originalIds: readonly string[],
  at: Date,
): Promise<void> {
  await db.superuser(
    `insert into proposals (institution_id, kind, subject, proposed_by, proposed_at, expires_at, confirmed_by,
                            confirmed_at, confirmed_xid)
     select $1, 'REVERSAL', subject, 'ann', $3, $3::timestamptz + interval '71 hours', 'bob', $3, '1'
     from unnest($2::text[]) subject`,
    [institutionId, originalIds, at],
  );
}
