import { mergeAccountRange } from '../../accounts/index.ts';
import { type Institution, localDate } from '../../institutions/index.ts';
import { Book } from '../../ledger/index.ts';
import { mergeMembershipRange, mergePersonRange } from '../../memberships/index.ts';
import { type Database, sqlState, sqlStateOf, type Transaction } from '../../storage/index.ts';
import { wholeStage } from '../import/ranges.ts';
import {
  accountStage,
  addToStage,
  clearStage,
  emptyStageOf,
  hasStage,
  holderStage,
  lockAgainstImports,
  lookUpByKeys,
  memberPersonStage,
  memberStage,
  personStage,
  type Stage,
  type StagedRow,
} from '../import/stage-queries.ts';
import { moveBalances } from '../import/write-stage.ts';
import { openInternalAccounts } from '../internal-accounts.ts';
import { RecordBook, type RecordOutcome, type StagedRecords, type Standing } from './record-book.ts';
import type { RecordLine, Texts } from './record-line.ts';
import { RecordVersions, recordsOf } from './record-versions.ts';
import {
  selectAccountsForUpdate,
  selectHeldAccounts,
  selectLoanIds,
  selectStandingHolders,
  selectStandingMemberPersons,
  selectStandingMembers,
  selectStandingPersons,
} from './standing-queries.ts';
import { selectVersions, upsertVersions } from './version-queries.ts';

const clearedAtOnce = 20_000;

/**
 * Takes records of the core in their order, each as a whole or not at all, and returns their outcomes. What changes passes through
 * the stage of an import and its merges, in the caller's transaction. An import of the institution runs before or after it.
 *
 * A dated record that is older than one that stands changes nothing. A new account opens with its balance. The balance of an existing one stays; a loan's interest, fees and amount due follow the
 * record, less the payments since `asOf`. Problem `overloaded` if an import runs or a membership was opened meanwhile.
 */
export async function takeRecords(
  tx: Transaction,
  lines: readonly { readonly line: number; readonly item: RecordLine }[],
  {
    institution,
    at,
    asOf,
  }: { readonly institution: Institution; readonly at: Date; readonly asOf: Date | undefined },
): Promise<RecordOutcome[]> {
  const [, , isStaged] = await Promise.all([
    lockAgainstImports(tx, institution.code),
    lookUpByKeys(tx),
    hasStage(tx),
  ]);
  // An import was killed. The next one begins from its files.
  if (isStaged) while (!(await clearStage(tx, clearedAtOnce)));
  const records = lines.map(({ item }) => item);
  const dated = records.filter(({ changedAt }) => changedAt !== undefined);
  const [standing, known] = await Promise.all([
    readStanding(tx, records),
    dated.length === 0 ? [] : selectVersions(tx, dated.flatMap(recordsOf)),
  ]);
  const book = new RecordBook(standing, localDate(at, institution.timeZone));
  const versions = new RecordVersions(known);
  const outcomes = lines.map(({ line, item }) => {
    const outcome = versions.refuse(item, at) ?? book.take(line, item);
    if (outcome.result !== 'refused' && outcome.result !== 'stale') versions.keep(item);
    return outcome;
  });
  // The figures include payments at the moment itself; times are kept in milliseconds.
  const from = asOf === undefined ? null : new Date(asOf.getTime() + 1);
  await write(tx, book.staged(), { at, from });
  const news = versions.news();
  if (news.length > 0) await upsertVersions(tx, news);
  return outcomes;
}

/**
 * Gives back the space of the rows that were staged and deleted: until a vacuum each batch would step over them. Does nothing
 * while an import runs, or another batch stages its rows for longer than a statement waits.
 */
export async function reclaimStage(database: Database): Promise<void> {
  const noImport = '';
  await database
    .directory((db) => emptyStageOf(db, noImport))
    .catch((error) => {
      if (sqlStateOf(error) !== sqlState.lockNotAvailable) throw error;
    });
}

async function readStanding(tx: Transaction, records: readonly RecordLine[]): Promise<Standing> {
  const all = (column: string) => [
    ...new Set(
      records.flatMap(({ given, dependants }) =>
        [given, ...dependants].flatMap((texts: Texts) => texts[column] ?? []),
      ),
    ),
  ];
  const leaving = records.flatMap(({ kind, isRemoved, given }) =>
    kind === 'memberPerson' && isRemoved
      ? [{ memberNumber: given.member_number ?? '', personId: given.person_id ?? '' }]
      : [],
  );
  const held = leaving.length === 0 ? [] : await selectHeldAccounts(tx, leaving);
  const accountIds = [...new Set([...all('account_id'), ...held])];
  const [persons, members, holders, loans] = await Promise.all([
    selectStandingPersons(tx, all('person_id')),
    selectStandingMembers(tx, {
      memberNumbers: all('member_number'),
      customerIds: all('customer_id'),
      accountIds,
    }),
    selectStandingHolders(tx, accountIds),
    selectLoanIds(tx, accountIds),
  ]);
  // A payment changes a loan's figures and its standing under the lock of its balance.
  if (loans.length > 0) await Book.lock(tx, loans);
  const [memberPersons, accounts] = await Promise.all([
    selectStandingMemberPersons(
      tx,
      members.map(({ memberNumber }) => memberNumber),
    ),
    selectAccountsForUpdate(tx, accountIds),
  ]);
  return { persons, members, memberPersons, accounts, holders };
}

async function write(
  tx: Transaction,
  staged: StagedRecords,
  { at, from }: { readonly at: Date; readonly from: Date | null },
): Promise<void> {
  const { persons, members, memberPersons, accounts, holders } = staged;
  if (persons.length + members.length + accounts.length === 0) return;
  await Promise.all([
    stage(tx, personStage, persons),
    stage(tx, memberStage, members),
    stage(tx, memberPersonStage, memberPersons),
    stage(tx, accountStage, accounts),
    stage(tx, holderStage, holders),
  ]);
  if (persons.length > 0) await mergePersonRange(tx, wholeStage);
  if (members.length > 0) await mergeMembershipRange(tx, wholeStage);
  if (accounts.length > 0) {
    const newAccounts = await mergeAccountRange(tx, wholeStage);
    const currencies = [...new Set(newAccounts.map(({ currency }) => currency))];
    if (currencies.length > 0) await openInternalAccounts(tx, currencies, at);
    await moveBalances(
      tx,
      { range: wholeStage, figures: { adjust: false, adjustLoans: true, from }, newAccounts },
      at,
    );
  }
  await clearStage(tx, clearedAtOnce);
}

async function stage<Item>(
  tx: Transaction,
  table: Stage<Item>,
  rows: readonly StagedRow<Item>[],
): Promise<void> {
  if (rows.length === 0) return;
  const repeated = await addToStage(tx, table, rows);
  if (repeated.length > 0) throw new Error('core-system: a batch of records stages a key twice');
}
