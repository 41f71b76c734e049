import { insertAccounts } from '../accounts/index.ts';
import {
  appendAudit,
  appendEvents,
  type NewEvent,
  type Origin,
  ownOrigin,
  whatChanged,
} from '../events/index.ts';
import { findInstitutionByCode, type Institution, saveInstitution } from '../institutions/index.ts';
import { Book, type PostingKeys } from '../ledger/index.ts';
import { Problem } from '../problem.ts';
import type { Clock, Database, InstitutionId, Transaction } from '../storage/index.ts';
import {
  type AccountRecord,
  type Extract,
  ExtractRejected,
  type MemberRecord,
  readExtract,
} from './extract.ts';
import { misfit } from './extract-table.ts';
import { internalAccountId, openInternalAccounts } from './internal-accounts.ts';
import {
  insertCustomers,
  lockImport,
  replaceHolders,
  replaceMemberPersons,
  selectKnownAccounts,
  selectKnownCustomers,
  updateDescriptions,
  updateLoans,
  upsertPersons,
} from './queries.ts';

export interface ImportDeps {
  readonly database: Database;
  readonly clock: Clock;
  readonly postingKeys: PostingKeys;
  /** Why the database may keep no institution but a demo; undefined when any may be kept. */
  readonly demoOnly?: string | undefined;
}

export interface ImportOptions {
  /** Also bring the balances of accounts that exist already to the extract's figure. */
  readonly adjustBalances?: boolean;
  readonly onProgress?: (done: number, of: number) => void;
  /** Left out: the service itself, which loads its demo. */
  readonly origin?: Origin;
}

export interface ImportReport {
  readonly institution: Institution;
  readonly persons: number;
  readonly members: number;
  readonly accounts: number;
  readonly openedAccounts: number;
  readonly adjustedAccounts: number;
}

const personsAtOnce = 1_000;
const membersAtOnce = 250;
const triesOfAChunk = 3;

/**
 * Brings in what a core exports: an institution, its people, memberships, accounts and who holds what. The whole extract
 * is checked before anything is written (ExtractRejected names every error), then merged in transactions of a few
 * hundred memberships, each complete in itself. Importing again changes only what has changed, so that an import that
 * was killed is completed by running it again. What an extract leaves out stays as it is, but for who belongs to a
 * membership and who holds an account: those are who the extract names.
 *
 * New accounts open with a posting against the core's settlement account. The balance of an account that exists is a
 * matter of the ledger, and is brought to the core's figure only when `adjustBalances` asks for it.
 */
export async function importExtract(
  deps: ImportDeps,
  folder: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  const { database } = deps;
  const extract = await readExtract(folder);
  if (deps.demoOnly !== undefined && !extract.institution.demo) throw new ExtractRejected([deps.demoOnly]);
  await refuseContradictions(database, extract);
  const origin = options.origin ?? ownOrigin();
  const audited = { outcome: 'succeeded', origin } as const;
  const standing = await database.directory((db) => findInstitutionByCode(db, extract.institution.code));
  const { institutionId } =
    standing ?? (await database.directory((db) => saveInstitution(db, extract.institution, deps.clock())));
  const currencies = currenciesOf(extract);
  const institution = await mergeChunk(database, institutionId, async (tx) => {
    const saved = await saveInstitution(tx, extract.institution, deps.clock());
    const change = whatChanged(standing, saved);
    if (Object.keys(change.after ?? {}).length > 0) {
      await appendAudit(
        tx,
        institutionId,
        { action: 'institution.changed', ...audited, ...change },
        deps.clock(),
      );
    }
    // An import that is killed leaves this one and no end.
    const after = { adjustBalances: options.adjustBalances === true };
    await appendAudit(tx, institutionId, { action: 'import.started', ...audited, after }, deps.clock());
    await openInternalAccounts(tx, institutionId, currencies, deps.clock());
    return saved;
  });

  const personKeys = new Map<string, bigint>();
  for (const persons of chunks(extract.persons, personsAtOnce)) {
    const keys = await mergeChunk(database, institutionId, (tx) => upsertPersons(tx, institutionId, persons));
    for (const [personId, key] of keys) personKeys.set(personId, key);
  }

  let done = 0;
  let opened = 0;
  let adjusted = 0;
  for (const members of chunks(extract.members, membersAtOnce)) {
    // Reserved before the transaction: inside it they would take a second connection of the pool.
    const mostPostings = members.reduce((sum, member) => sum + member.accounts.length, 0);
    const postingKeys = await deps.postingKeys.take(mostPostings);
    const merged = await mergeChunk(database, institutionId, (tx) =>
      mergeMembers(deps, tx, members, personKeys, postingKeys, options.adjustBalances === true),
    );
    opened += merged.opened;
    adjusted += merged.adjusted;
    done += members.length;
    options.onProgress?.(done, extract.members.length);
  }
  const counts = {
    persons: extract.persons.length,
    members: extract.members.length,
    accounts: extract.members.reduce((sum, member) => sum + member.accounts.length, 0),
    openedAccounts: opened,
    adjustedAccounts: adjusted,
  };
  await database.transaction(institutionId, (tx) =>
    appendAudit(tx, institutionId, { action: 'import.finished', ...audited, after: counts }, deps.clock()),
  );
  return { institution, ...counts };
}

/** What never changes: under the same id another currency, member, type or institution is another thing. */
async function refuseContradictions(database: Database, extract: Extract): Promise<void> {
  const { institution: settings } = extract;
  const institution = await database.directory((db) => findInstitutionByCode(db, settings.code));
  if (institution === undefined) return;
  const { institutionId } = institution;
  const errors: string[] = [];
  const fail = (file: string, line: number, column: string) =>
    errors.push(misfit(file, line, column, 'what was imported before'));

  if (institution.currency !== settings.currency) fail('institution.csv', 2, 'currency');
  if (institution.demo !== settings.demo) fail('institution.csv', 2, 'demo');
  for (const members of chunks(extract.members, membersAtOnce)) {
    const accounts = members.flatMap((member) => member.accounts.map((account) => ({ member, account })));
    const [customers, known] = await database.read(institutionId, (db) =>
      Promise.all([
        selectKnownCustomers(db, institutionId, members),
        selectKnownAccounts(
          db,
          institutionId,
          accounts.map(({ account }) => account.accountId),
        ),
      ]),
    );
    for (const member of members) {
      for (const is of customers.get(member.memberNumber) ?? []) {
        if (is.memberNumber !== member.memberNumber) fail('members.csv', member.line, 'member_number');
        if (is.customerId !== member.customerId) fail('members.csv', member.line, 'customer_id');
        if (is.memberType !== member.memberType) fail('members.csv', member.line, 'member_type');
      }
    }
    for (const { member, account } of accounts) {
      const is = known.get(account.accountId);
      if (is === undefined) continue;
      if (is.memberNumber !== member.memberNumber) fail('accounts.csv', account.line, 'member_number');
      if (is.diAccountType !== account.diAccountType) fail('accounts.csv', account.line, 'type');
      if (is.currency !== account.currency) fail('accounts.csv', account.line, 'currency');
    }
  }
  if (errors.length > 0) throw new ExtractRejected(errors);
}

/**
 * Two imports of an institution take turns at each chunk. A chunk that met an account locked for too long is merged
 * again: it is complete in itself.
 */
async function mergeChunk<T>(
  database: Database,
  institutionId: InstitutionId,
  merge: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.transaction(institutionId, async (tx) => {
        await lockImport(tx, institutionId);
        return merge(tx);
      });
    } catch (error) {
      const lockedOut = error instanceof Problem && error.code === 'overloaded';
      if (!lockedOut || tries === triesOfAChunk) throw error;
    }
  }
}

async function mergeMembers(
  deps: ImportDeps,
  tx: Transaction,
  members: readonly MemberRecord[],
  personKeys: ReadonlyMap<string, bigint>,
  postingKeys: readonly bigint[],
  adjustBalances: boolean,
): Promise<{ opened: number; adjusted: number }> {
  const { institutionId } = tx;
  const customerKeys = await insertCustomers(tx, institutionId, members);
  // Between the check and now somebody enrolled under one of these numbers; the next import will name it.
  if (customerKeys.size < members.length) throw new Error('core: a membership was opened beside the import');
  const keyOf = (personId: string) => personKeys.get(personId) as bigint;
  await replaceMemberPersons(
    tx,
    institutionId,
    [...customerKeys.values()],
    members.flatMap((member) =>
      member.persons.map(({ personId, role }) => ({
        customerKey: customerKeys.get(member.memberNumber) as bigint,
        personKey: keyOf(personId),
        role,
      })),
    ),
  );

  const accounts = members.flatMap((member) =>
    member.accounts.map((account) => ({
      account,
      customerKey: customerKeys.get(member.memberNumber) as bigint,
    })),
  );
  const known = await selectKnownAccounts(
    tx,
    institutionId,
    accounts.map(({ account }) => account.accountId),
  );
  const missing = accounts.filter(({ account }) => !known.has(account.accountId));
  const inserted = await insertAccounts(
    tx,
    institutionId,
    missing.map(({ account, customerKey }) => ({ ...account, customerKey, purpose: null })),
    deps.clock(),
  );
  await updateDescriptions(
    tx,
    institutionId,
    accounts.flatMap(({ account }) => (known.has(account.accountId) ? [account] : [])),
  );
  const accountKey = (account: AccountRecord) =>
    (inserted.get(account.accountId) ?? known.get(account.accountId)?.accountKey) as bigint;
  await replaceHolders(
    tx,
    institutionId,
    accounts.map(({ account }) => accountKey(account)),
    accounts.flatMap(({ account }) =>
      account.holders.map(({ personId, role, mayPay }) => ({
        accountKey: accountKey(account),
        personKey: keyOf(personId),
        role,
        mayPay,
      })),
    ),
  );
  return bringBalances(
    deps,
    tx,
    accounts.map(({ account }) => account),
    accountKey,
    inserted,
    postingKeys,
    adjustBalances,
  );
}

/** Openings, once per account, and adjustments where they are asked for. Accounts are locked before they are read. */
async function bringBalances(
  deps: ImportDeps,
  tx: Transaction,
  accounts: readonly AccountRecord[],
  accountKey: (account: AccountRecord) => bigint,
  inserted: ReadonlyMap<string, bigint>,
  postingKeys: readonly bigint[],
  adjustBalances: boolean,
): Promise<{ opened: number; adjusted: number }> {
  const moves = (account: AccountRecord) => adjustBalances || inserted.has(account.accountId);
  // A loan's standing is the core's to say: what is due on it beside the flag, whatever becomes of the balance.
  const concerned = accounts.filter((account) => moves(account) || account.category === 'LOAN');
  if (concerned.length === 0) return { opened: 0, adjusted: 0 };
  const settlement = new Set(
    concerned.filter(moves).map((account) => internalAccountId('CORE_SETTLEMENT', account.currency)),
  );
  const book = await Book.lock(tx, [...settlement, ...concerned.map((account) => account.accountId)]);

  let opened = 0;
  let adjusted = 0;
  const events: NewEvent[] = [];
  for (const account of concerned.filter(moves)) {
    const state = book.require(account.accountId);
    const difference = account.posted - state.posted;
    if (difference === 0n) continue;
    const own = account.accountId;
    const other = internalAccountId('CORE_SETTLEMENT', account.currency);
    book.record({
      kind: state.seq === 0n ? 'OPENING' : 'ADJUSTMENT',
      postingKey: postingKeys[opened + adjusted] as bigint,
      debitAccountId: difference > 0n ? other : own,
      creditAccountId: difference > 0n ? own : other,
      amountMinor: difference > 0n ? difference : -difference,
    });
    events.push({
      kind: state.seq === 0n ? 'account.balance_opened' : 'account.balance_adjusted',
      subjectKey: state.accountKey,
      toKey: state.accountKey,
      toSeq: state.seq + 1n,
    });
    if (state.seq === 0n) opened += 1;
    else adjusted += 1;
  }
  const at = await book.write(deps.clock());
  await appendEvents(tx, tx.institutionId, events, at);
  await updateLoans(
    tx,
    tx.institutionId,
    concerned
      .filter((account) => account.category === 'LOAN')
      .map((loan) => ({
        accountKey: accountKey(loan),
        accruedInterest: moves(loan) ? loan.accruedInterest : null,
        feesDue: moves(loan) ? loan.feesDue : null,
        amountDue: loan.amountDue ?? null,
      })),
  );
  return { opened, adjusted };
}

function currenciesOf(extract: Extract): string[] {
  const used = extract.members.flatMap((member) => member.accounts.map((account) => account.currency));
  return [...new Set([extract.institution.currency, ...used])];
}

function* chunks<T>(items: readonly T[], size: number): Generator<readonly T[]> {
  for (let start = 0; start < items.length; start += size) yield items.slice(start, start + size);
}
