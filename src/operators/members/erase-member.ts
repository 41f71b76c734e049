import { deleteAuthenticator, eraseCodes, eraseDevices, erasePasskeys } from '../../auth/index.ts';
import {
  type AuditRetention,
  appendAudit,
  type CommandOrigin,
  eraseAuditPersonal,
  eraseMemberEvents,
  readAuditRetention,
} from '../../events/index.ts';
import { eraseSuppressions } from '../../mail/index.ts';
import { eraseRegistrationTries, eraseUser } from '../../members/index.ts';
import { erasePerson, lockPerson } from '../../memberships/index.ts';
import { isPublicId } from '../../shared/public-id.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../../storage/index.ts';
import { selectErasure } from './erase-queries.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly auditRetention: AuditRetention;
}

interface Erasure {
  readonly personId: string;
  readonly statedReason: string;
  readonly origin: CommandOrigin;
}

type Erased =
  | { readonly kind: 'erased'; readonly events: number; readonly auditEntries: number }
  | { readonly kind: 'unchanged' }
  /** No person has this id. */
  | { readonly kind: 'unknown' }
  | { readonly kind: 'open_accounts'; readonly accountIds: readonly string[] }
  /** The records are kept until then. */
  | { readonly kind: 'kept'; readonly until: Date };

const dayMillis = 24 * 60 * 60_000;

/**
 * Erases the personal data of a person: the core's record, the login, phones, codes, the data of events and the personal fields of the
 * audit. Ids, accounts, transfers and entries stay. Every account must be closed, and the last movement as old as the audit of changes is
 * kept. Imports leave the person erased.
 */
export async function eraseMember(
  { database, clock, auditRetention }: Deps,
  institutionId: InstitutionId,
  { personId, statedReason, origin }: Erasure,
): Promise<Erased> {
  if (!isPublicId(personId)) return { kind: 'unknown' };
  const { changesDays } = await readAuditRetention(database, institutionId, auditRetention);
  return database.transaction(institutionId, async (tx): Promise<Erased> => {
    const person = await lockPerson(tx, personId);
    if (person === undefined) return { kind: 'unknown' };
    if (person.erasedAt !== null) return { kind: 'unchanged' };
    const found = await selectErasure(tx, person.personKey);
    if (found.openAccounts.length > 0) return { kind: 'open_accounts', accountIds: found.openAccounts };
    const at = clock();
    const until = new Date((found.lastMoved?.getTime() ?? 0) + changesDays * dayMillis);
    if (until > at) return { kind: 'kept', until };
    const { userKey, userId, memberNumbers, accountIds } = found;
    const events = userKey === null ? 0 : await eraseLogin(tx, userKey);
    await eraseRegistrationTries(tx, memberNumbers);
    await erasePerson(tx, person.personKey, at);
    const about = { userIds: userId === null ? [] : [userId], subjects: [personId, ...accountIds] };
    const auditEntries = await eraseAuditPersonal(tx, about, at);
    const entry = { action: 'person.erased', outcome: 'succeeded', subject: personId, origin } as const;
    const after = { events, auditEntries };
    await appendAudit(tx, { ...entry, userId: userId ?? undefined, statedReason, after }, at);
    return { kind: 'erased', events, auditEntries };
  });
}

async function eraseLogin(tx: Transaction, userKey: bigint): Promise<number> {
  await eraseSuppressions(tx, userKey);
  await eraseUser(tx, userKey);
  await eraseCodes(tx, userKey);
  await erasePasskeys(tx, userKey);
  await deleteAuthenticator(tx, userKey);
  await eraseDevices(tx, userKey);
  return eraseMemberEvents(tx, userKey);
}
