import { accountTypes, purposes } from '../../accounts/index.ts';
import type { AuditTrail, CommandOrigin } from '../../events/index.ts';
import { formatMinor } from '../../ledger/index.ts';
import { type Page, type PageRequest, pageOf } from '../../shared/page.ts';
import type { Database, InstitutionId, Queryable } from '../../storage/index.ts';
import {
  type AccountOfClassRow,
  selectAccountOfPurpose,
  selectAccountsOfType,
  selectLastRead,
} from './class-queries.ts';

const memberTypes = [...accountTypes].flatMap(([type, { category }]) =>
  category === 'INTERNAL' ? [] : type,
);

/** The classes of the trial balance: types of members' accounts, and purposes of the institution's own. */
export const ledgerClasses: readonly string[] = [...memberTypes, ...purposes];

interface Asked {
  /** One of `ledgerClasses`. */
  readonly class: string;
  readonly currency: string;
  /** The moment of a trial balance. Without one each page has the balances of its own time. */
  readonly before?: Date | null;
}

interface AccountOfClass {
  readonly accountId: string;
  readonly description: string;
  /** Null for an account of the institution itself. */
  readonly memberNumber: string | null;
  /** Decimal text, as the ledger has it: credit is positive. */
  readonly balance: string;
}

/**
 * The accounts that a class of the trial balance counts: those whose balance was not zero just before the moment. A page looks at a thousand
 * accounts at most, and may be short, or empty, before the last. The audit notes each page of a class of members' accounts.
 */
export async function accountsOfClass(
  {
    database,
    auth: { audit },
  }: { readonly database: Database; readonly auth: { readonly audit: AuditTrail } },
  institutionId: InstitutionId,
  {
    asked,
    page,
    origin,
  }: { readonly asked: Asked; readonly page: PageRequest; readonly origin: CommandOrigin },
): Promise<Page<AccountOfClass>> {
  const isOfMembers = memberTypes.includes(asked.class);
  const found = await database.snapshot(institutionId, (db) =>
    isOfMembers ? readMembers(db, asked, page) : readOwn(db, asked),
  );
  if (isOfMembers) {
    const subject = `${asked.class} ${asked.currency}`;
    const read = { action: 'account.read', outcome: 'succeeded', reason: 'class', subject } as const;
    await audit.noteRead(institutionId, { ...read, origin });
  }
  const items = found.items.map(({ accountId, description, memberNumber, posted }) => ({
    ...{ accountId, description, memberNumber },
    balance: formatMinor(posted, asked.currency),
  }));
  return { items, next: found.next };
}

async function readMembers(
  db: Queryable,
  { before = null, ...asked }: Asked,
  { limit, after }: PageRequest,
): Promise<Page<AccountOfClassRow>> {
  const window = { ...asked, after: after?.[0] ?? 0n };
  const rows = await selectAccountsOfType(db, before, { ...window, limit: limit + 1 });
  const page = pageOf(
    rows,
    limit,
    (row) => row,
    ({ accountKey }) => [accountKey],
  );
  if (page.next !== null) return page;
  const last = await selectLastRead(db, window);
  return { ...page, next: last === undefined ? null : [last] };
}

async function readOwn(db: Queryable, { before, ...asked }: Asked): Promise<Page<AccountOfClassRow>> {
  return { items: await selectAccountOfPurpose(db, before ?? null, asked), next: null };
}
