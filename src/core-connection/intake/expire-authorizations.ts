import { eventsToAppend } from '../../events/index.ts';
import { Book } from '../../ledger/index.ts';
import type { InstitutionId } from '../../storage/index.ts';
import {
  type AuthorizationRow,
  saveAuthorizations,
  selectAuthorizations,
  selectExpiredAuthorizations,
} from './authorization-queries.ts';
import type { IntakeDeps } from './take-transactions.ts';

const expiredAtOnce = 500;

/**
 * Ends the authorizations whose time is over and releases their holds. Any number of processes may run it: each ends those that are
 * still open behind the locks of their accounts. Problem `overloaded` if the accounts stay locked; the next run ends them.
 */
export async function expireAuthorizations(
  { database, clock, businessTime, postingKeys }: Omit<IntakeDeps, 'inactiveTokens'>,
  institutionId: InstitutionId,
): Promise<void> {
  const now = () => businessTime(institutionId, clock());
  const due = await database.read(institutionId, (db) =>
    selectExpiredAuthorizations(db, now(), expiredAtOnce),
  );
  if (due.length === 0) return;
  const keys = await postingKeys.take(due.length);
  await database.transaction(institutionId, async (tx) => {
    const accountIds = due.flatMap(({ accountId, settlementId }) => [accountId, settlementId]);
    const [book, authorizations] = await Promise.all([
      Book.lock(tx, [...new Set(accountIds)]),
      selectAuthorizations(
        tx,
        due.map(({ authorizationId }) => authorizationId),
      ),
    ]);
    const at = now();
    const open = authorizations.filter(
      ({ ended, expiresAt }) => ended === null && expiresAt !== null && expiresAt <= at,
    );
    const changed: AuthorizationRow[] = [];
    const events = open.map((authorization, index) => {
      const { accountId, settlementId, authorizationId, held } = authorization;
      const postingKey = keys[index] as bigint;
      book.changeHold({ postingKey, accountId, settlementId, changeMinor: -held });
      changed.push({ ...authorization, postingKey, held: 0n, ended: 'EXPIRED' });
      const { accountKey, seq } = book.require(accountId);
      const data = { authorizationId };
      return { kind: 'account.released', subjectKey: accountKey, toKey: accountKey, toSeq: seq, data };
    });
    await tx.commitWith([
      ...book.writes(at),
      ...saveAuthorizations(institutionId, { added: [], changed }, at),
      ...eventsToAppend(institutionId, events, at),
    ]);
  });
}
