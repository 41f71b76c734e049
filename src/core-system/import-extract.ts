import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit, appendEvents, type NewEvent, type Origin, ownOrigin } from '../events/index.ts';
import {
  findInstitutionByCode,
  type Institution,
  type InstitutionSettings,
  saveInstitution,
} from '../institutions/index.ts';
import { Book, takePostingKeys } from '../ledger/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Clock, Database, InstitutionId, Session, Transaction } from '../storage/index.ts';
import { checkAgainstBefore, forEachRange, type OnProgress, readIntoStage } from './check-stage.ts';
import { ExtractRejected } from './extract.ts';
import {
  changesNothing,
  countsOf,
  type ImportPlan,
  ImportRefused,
  suspiciousRemovals,
} from './import-plan.ts';
import { internalAccountId, openInternalAccounts } from './internal-accounts.ts';
import {
  type Change,
  changeLoanRange,
  countMemberChanges,
  countPersonChanges,
  type Figures,
  type MemberChanges,
  mergeMemberRange,
  mergePersonRange,
  type NewAccount,
  selectAccountsToMove,
  selectFigures,
  selectLoansToChange,
} from './merge-queries.ts';
import { Complaints, type Heading, readHeading, type StageContents } from './stage-extract.ts';
import {
  allowHashJoins,
  analyzeImported,
  clearStage,
  deleteRun,
  emptyStageOf,
  insertRun,
  type KeyRange,
  lookUpByKeys,
  releaseImportLock,
  selectNextRange,
  selectRuns,
  tryImportLock,
} from './stage-queries.ts';

export interface ImportDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** Why the database may keep no institution but a demo; undefined when any may be kept. */
  readonly demoOnly?: string | undefined;
}

interface Progress {
  readonly step: 'reading' | 'checking' | 'comparing' | 'writing';
  readonly done: number;
  readonly of: number;
}

export interface ImportOptions {
  /** Also bring the balances of accounts that exist already to the extract's figures. ImportRefused without `asOf`. */
  readonly adjustBalances?: boolean;
  /** The moment up to which the core's figures have in them what this service posted; else the extract's own says so. */
  readonly asOf?: Date;
  /** Carry out removals that look like a file that was cut off. */
  readonly allowRemovals?: boolean;
  /** Only say what would be done. */
  readonly dryRun?: boolean;
  readonly origin?: Origin;
  /** Told what is about to be done, before anything is; also in a dry run. */
  readonly onPlan?: (plan: ImportPlan) => void;
  readonly onProgress?: (progress: Progress) => Promise<void> | void;
  /** Another import of the same institution is under way, and is waited for. */
  readonly onWait?: () => void;
}

export interface ImportReport {
  readonly code: string;
  /** Undefined in a dry run. */
  readonly institution: Institution | undefined;
  readonly persons: number;
  readonly members: number;
  readonly accounts: number;
  readonly openedAccounts: number;
  readonly adjustedAccounts: number;
  readonly plan: ImportPlan;
}

const personsAtOnce = 2_000;
/** Accounts that change are locked for the time of a range, and transfers wait. */
const membersAtOnce = 500;
/** Of tables that may be empty. */
const firstRows = 200;
const triesOfARange = 3;
const waitMillis = 200;
const clearedAtOnce = 20_000;

/**
 * Brings in what a core exports: an institution, its people, memberships, accounts and who holds what.
 *
 * The files are read into a stage, checked there (ExtractRejected names every error), compared with what was imported
 * before, and what differs is written in transactions of some thousand rows, each complete in itself; rows that are as
 * before are not touched. Memory does not grow with the files. An import that was killed is completed by running it again.
 * What an extract leaves out stays as it is, except who belongs to a membership and who holds an account: those are the
 * persons whom the extract names. ImportRefused: it would remove more of them than is believed.
 *
 * New accounts open with a posting against the core's settlement account. The balance of an account that exists is a
 * matter of the ledger, and is brought to the core's figure only when `adjustBalances` asks for it.
 */
export async function importExtract(
  deps: ImportDeps,
  folder: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  return deps.database.session(async (session) => {
    const complaints = new Complaints();
    const heading = await readHeading(folder, complaints);
    const { code } = heading;
    for (let tries = 1; !(await session.directory((db) => tryImportLock(db, code))); tries += 1) {
      if (tries === 1) options.onWait?.();
      await sleep(waitMillis);
    }
    try {
      await clearRuns(session, code);
      return await importStaged(deps, session, folder, heading, complaints, options);
    } finally {
      // A connection that was lost has taken its lock with it, and the next import clears the stage.
      await clearRuns(session, code).catch(() => {});
      await session.directory((db) => releaseImportLock(db, code)).catch(() => {});
    }
  });
}

/** Takes out of the stage what imports have left there that are not under way any more. Ours is locked by us. */
async function clearRuns(session: Session, ours: string): Promise<void> {
  for (const { code, institutionId } of await session.directory(selectRuns)) {
    if (code !== ours && !(await session.directory((db) => tryImportLock(db, code)))) continue;
    if (!(await session.directory((db) => emptyStageOf(db, code)))) {
      const clear = () =>
        session.transaction(institutionId, (tx) => clearStage(tx, institutionId, clearedAtOnce));
      while (!(await clear()));
    }
    await session.directory((db) => deleteRun(db, code));
    if (code !== ours) await session.directory((db) => releaseImportLock(db, code));
  }
}

async function importStaged(
  deps: ImportDeps,
  session: Session,
  folder: string,
  heading: Heading,
  complaints: Complaints,
  options: ImportOptions,
): Promise<ImportReport> {
  const { code } = heading;
  const report: OnProgress<Progress['step']> = (step, done, of) =>
    options.onProgress?.({ step, done: Math.min(done, of), of });
  const known = await session.directory((db) => findInstitutionByCode(db, code));
  const stageId = await session.directory((db) => insertRun(db, code, known?.institutionId));
  const { contents, unheld } = await readIntoStage(session, stageId, folder, complaints, report);
  const { settings } = heading;
  if (settings === undefined) throw new Error('core: an extract without an institution was not refused');
  if (deps.demoOnly !== undefined && !settings.demo) throw new ExtractRejected([deps.demoOnly]);
  if (known !== undefined) await checkAgainstBefore(session, known, settings, complaints);
  complaints.refuse();

  const figures = figuresOf(deps, heading, options);
  const plan: ImportPlan = {
    settings: differencesOf(known, settings),
    unheld,
    ...(known === undefined
      ? allOf(contents)
      : await compare(session, stageId, figures, contents, (done, of) => report('comparing', done, of))),
  };
  options.onPlan?.(plan);
  const removals = suspiciousRemovals(plan);
  if (removals.length > 0 && options.allowRemovals !== true) {
    throw new ImportRefused(
      `The import would remove ${removals.join(', and ')}. Nothing was changed. A file that was cut off looks like this; if the core means it, allow it with --allow-removals.`,
    );
  }
  const outcome = { code, institution: known, plan, ...contents, openedAccounts: 0, adjustedAccounts: 0 };
  if (options.dryRun === true || changesNothing(plan)) return outcome;
  const moved = { opened: 0, adjusted: 0 };
  const institution = await begin(deps, session, stageId, known, settings, contents, plan, options);
  await carryOut(deps, session, stageId, figures, contents, plan, moved, (done, of) =>
    report('writing', done, of),
  );
  await session.transaction(stageId, (tx) =>
    appendAudit(
      tx,
      { action: 'import.finished', outcome: 'succeeded', origin: originOf(options), after: moved },
      deps.clock(),
    ),
  );
  return { ...outcome, institution, openedAccounts: moved.opened, adjustedAccounts: moved.adjusted };
}

/** ImportRefused for balances to be adjusted to figures of an unknown moment: they would take back transfers made since. */
function figuresOf(deps: ImportDeps, heading: Heading, options: ImportOptions): Figures {
  const asOf = options.asOf ?? heading.asOf;
  const adjust = options.adjustBalances === true;
  if (adjust && asOf === undefined) {
    throw new ImportRefused(
      'To adjust balances, say of which moment the figures are: with --as-of, or with the column balances_as_of in institution.csv. Transfers posted after it stay on top of the figures. Nothing was changed.',
    );
  }
  if (asOf !== undefined && asOf > deps.clock()) {
    throw new ImportRefused('The moment that the balances are of lies in the future. Nothing was changed.');
  }
  // What was posted at that moment is in the figures; times are kept in milliseconds.
  return { adjust, from: asOf === undefined ? null : new Date(asOf.getTime() + 1) };
}

/** A policy that the extract leaves out stays as it is. */
function differencesOf(
  known: Institution | undefined,
  settings: InstitutionSettings,
): ImportPlan['settings'] {
  if (known === undefined) return { after: flat(settings) };
  const is = flat(known);
  const names = Object.entries(flat(settings)).filter(([name, value]) => is[name] !== value);
  return {
    before: Object.fromEntries(names.map(([name]) => [name, is[name]])),
    after: Object.fromEntries(names),
  };
}

function flat({ policies, ...settings }: InstitutionSettings): Readonly<Record<string, unknown>> {
  return { ...settings, ...policies };
}

const noChange: Change = { added: 0, changed: 0, removed: 0, standing: 0 };

/** Of an institution that is new, everything is. */
function allOf(contents: StageContents): Omit<ImportPlan, 'settings' | 'unheld'> {
  const added = (rows: number): Change => ({ ...noChange, added: rows });
  return {
    persons: added(contents.persons),
    members: added(contents.members),
    memberPersons: added(contents.memberPersons),
    accounts: added(contents.accounts),
    holders: added(contents.holders),
    loans: noChange,
    opened: contents.figures,
    adjusted: 0,
  };
}

async function compare(
  session: Session,
  institutionId: InstitutionId,
  figures: Figures,
  contents: StageContents,
  onRows: (done: number, of: number) => Promise<void> | void,
): Promise<Omit<ImportPlan, 'settings' | 'unheld'>> {
  const ranges = { persons: [] as KeyRange[], members: [] as KeyRange[] };
  const of = contents.persons + contents.members;
  let done = 0;
  let persons = noChange;
  await forEachRange(session, institutionId, 'persons', personsAtOnce, async (tx, range) => {
    const change = await countPersonChanges(tx, institutionId, range);
    persons = sum(persons, change);
    if (change.added + change.changed > 0) ranges.persons.push(range);
    done += personsAtOnce;
    await onRows(done, of);
  });
  let all: MemberChanges = {
    members: noChange,
    memberPersons: noChange,
    accounts: noChange,
    holders: noChange,
    loans: noChange,
    opened: 0,
    adjusted: 0,
  };
  await forEachRange(session, institutionId, 'members', membersAtOnce, async (tx, range) => {
    const change = await countMemberChanges(tx, institutionId, range, figures);
    const counts = [change.members, change.memberPersons, change.accounts, change.holders, change.loans];
    const rows = counts.reduce((total, { added, changed, removed }) => total + added + changed + removed, 0);
    if (rows + change.opened + change.adjusted > 0) ranges.members.push(range);
    all = {
      members: sum(all.members, change.members),
      memberPersons: sum(all.memberPersons, change.memberPersons),
      accounts: sum(all.accounts, change.accounts),
      holders: sum(all.holders, change.holders),
      loans: sum(all.loans, change.loans),
      opened: all.opened + change.opened,
      adjusted: all.adjusted + change.adjusted,
    };
    done += membersAtOnce;
    await onRows(done, of);
  });
  return { persons, ...all, ranges };
}

function sum(one: Change, other: Change): Change {
  return {
    added: one.added + other.added,
    changed: one.changed + other.changed,
    removed: one.removed + other.removed,
    standing: one.standing + other.standing,
  };
}

/** The institution with its settings and its own accounts, and what the audit says of the import. */
async function begin(
  deps: ImportDeps,
  session: Session,
  institutionId: InstitutionId,
  known: Institution | undefined,
  settings: InstitutionSettings,
  contents: StageContents,
  plan: ImportPlan,
  options: ImportOptions,
): Promise<Institution> {
  return merge(session, institutionId, async (tx) => {
    const at = deps.clock();
    const { before, after } = plan.settings;
    const settingsDiffer = Object.keys(after).length > 0;
    const institution =
      known !== undefined && !settingsDiffer ? known : await saveInstitution(tx, settings, at, institutionId);
    await openInternalAccounts(
      tx,
      institutionId,
      [...new Set([settings.currency, ...contents.currencies])],
      at,
    );
    const entry = { outcome: 'succeeded', origin: originOf(options) } as const;
    if (settingsDiffer) {
      await appendAudit(tx, { ...entry, action: 'institution.changed', before, after }, at);
    }
    const planned = { ...countsOf(plan), adjustBalances: options.adjustBalances === true };
    await appendAudit(tx, { ...entry, action: 'import.started', after: planned }, at);
    return institution;
  });
}

function originOf(options: ImportOptions): Origin {
  return options.origin ?? ownOrigin();
}

async function carryOut(
  deps: ImportDeps,
  session: Session,
  institutionId: InstitutionId,
  figures: Figures,
  contents: StageContents,
  { ranges }: ImportPlan,
  moved: { opened: number; adjusted: number },
  onRows: (done: number, of: number) => Promise<void> | void,
): Promise<void> {
  const of =
    ranges === undefined
      ? contents.persons + contents.members
      : ranges.persons.length * personsAtOnce + ranges.members.length * membersAtOnce;
  let done = 0;
  const each = async (
    stage: 'persons' | 'members',
    rows: number,
    work: (tx: Transaction, range: KeyRange) => Promise<{ opened: number; adjusted: number }>,
  ) => {
    let isFirst = ranges === undefined;
    for await (const range of rangesOf(session, institutionId, stage, rows, ranges?.[stage])) {
      const { opened, adjusted } = await merge(session, institutionId, (tx) => work(tx, range));
      // Tables that were empty have been planned for as such.
      if (isFirst) await session.directory(analyzeImported);
      isFirst = false;
      moved.opened += opened;
      moved.adjusted += adjusted;
      done += rows;
      await onRows(done, of);
    }
  };
  await each('persons', personsAtOnce, async (tx, range) => {
    await mergePersonRange(tx, institutionId, range);
    return { opened: 0, adjusted: 0 };
  });
  await each('members', membersAtOnce, async (tx, range) => {
    const newAccounts = await mergeMemberRange(tx, institutionId, range);
    return bringBalances(tx, range, figures, newAccounts, deps.clock());
  });
}

/** Those that are known to differ, or all of a stage. */
async function* rangesOf(
  session: Session,
  institutionId: InstitutionId,
  stage: 'persons' | 'members',
  rows: number,
  known: readonly KeyRange[] | undefined,
): AsyncGenerator<KeyRange> {
  if (known !== undefined) return yield* known;
  const next = (last: KeyRange | undefined) =>
    session.transaction(institutionId, (tx) =>
      selectNextRange(tx, institutionId, stage, last, last === undefined ? firstRows : rows),
    );
  for (let range = await next(undefined); range !== undefined; range = await next(range)) yield range;
}

/** A range that met an account locked for too long is merged again: it is complete in itself. */
async function merge<T>(
  session: Session,
  institutionId: InstitutionId,
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await session.transaction(institutionId, async (tx) => {
        await lookUpByKeys(tx);
        return work(tx);
      });
    } catch (error) {
      const lockedOut = error instanceof Problem && error.code === 'overloaded';
      if (!lockedOut || tries === triesOfARange) throw error;
    }
  }
}

/** Openings, once an account, and adjustments if they are asked for. Accounts that exist are locked before they are read. */
async function bringBalances(
  tx: Transaction,
  range: KeyRange,
  figures: Figures,
  newAccounts: readonly NewAccount[],
  at: Date,
): Promise<{ opened: number; adjusted: number }> {
  const { institutionId } = tx;
  const toMove = figures.adjust ? await selectAccountsToMove(tx, institutionId, range, figures) : [];
  const loans = await selectLoansToChange(tx, institutionId, range, figures);
  if (newAccounts.length + toMove.length + loans.length === 0) return { opened: 0, adjusted: 0 };
  const withMoney = newAccounts.filter(({ figure }) => figure !== 0n);
  const own = new Set(
    [...withMoney, ...toMove].map(({ currency }) => internalAccountId('CORE_SETTLEMENT', currency)),
  );
  const accountIds = toMove.map(({ accountId }) => accountId);
  const book = await Book.lock(tx, [...own, ...accountIds, ...loans]);
  book.open(newAccounts, at);

  const postingKeys = await takePostingKeys(tx, withMoney.length + toMove.length);
  const events: NewEvent[] = [];
  const moved = { opened: 0, adjusted: 0 };
  const existing = toMove.length === 0 ? [] : await selectFigures(tx, institutionId, accountIds, figures);
  for (const { accountId, currency, figure } of [...withMoney, ...existing]) {
    const state = book.require(accountId);
    const difference = figure - state.posted;
    if (difference === 0n) continue;
    const isOpening = state.seq === 0n;
    const other = internalAccountId('CORE_SETTLEMENT', currency);
    book.record({
      kind: isOpening ? 'OPENING' : 'ADJUSTMENT',
      postingKey: postingKeys[events.length] as bigint,
      debitAccountId: difference > 0n ? other : accountId,
      creditAccountId: difference > 0n ? accountId : other,
      amountMinor: difference > 0n ? difference : -difference,
    });
    events.push({
      kind: isOpening ? 'account.balance_opened' : 'account.balance_adjusted',
      subjectKey: state.accountKey,
      toKey: state.accountKey,
      toSeq: state.seq + 1n,
    });
    moved[isOpening ? 'opened' : 'adjusted'] += 1;
  }
  await allowHashJoins(tx);
  const when = await book.write(at);
  await appendEvents(tx, events, when);
  if (loans.length > 0) await changeLoanRange(tx, institutionId, range, figures);
  return moved;
}
