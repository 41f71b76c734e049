import type { Figures } from '../../accounts/index.ts';
import { appendAudit, type Origin, ownOrigin } from '../../events/index.ts';
import {
  findInstitutionByCode,
  type Institution,
  type InstitutionSettings,
  insertInstitution,
  type NameClaims,
  updateInstitution,
} from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId, Session } from '../../storage/index.ts';
import { coreShapes, ExtractRejectedError } from '../extract/extract.ts';
import { readExtractMapping } from '../extract/extract-mapping.ts';
import { openInternalAccounts } from '../internal-accounts.ts';
import { checkAgainstBefore, readIntoStage } from './check-stage.ts';
import {
  countsOf,
  type ImportPlan,
  ImportRefusedError,
  leavesNothing,
  suspiciousRemovals,
} from './import-plan.ts';
import { addAll, compareStage, settingsThatDiffer } from './plan-import.ts';
import { type Commit, defaultCommit, rangeSizes } from './ranges.ts';
import type { RejectedRow } from './reject-queries.ts';
import { RejectedRows } from './rejected-rows.ts';
import {
  Complaints,
  type Heading,
  readHeading,
  type StageContents,
  type StagedFiles,
} from './stage-extract.ts';
import {
  awaitImportLock,
  clearStage,
  deleteRun,
  emptyStageOf,
  hasMembers,
  insertRun,
  releaseImportLock,
  selectRuns,
  tryImportLock,
} from './stage-queries.ts';
import { countRejected, listRejected, unstageRejected } from './unstage-rejected.ts';
import { type Moved, type Writing, writeAtOnce, writeByRange, writeStage } from './write-stage.ts';

export interface ImportDeps {
  readonly database: Database;
  readonly clock: Clock;
  /** The reason why the database keeps demo institutions only; undefined if it keeps any. */
  readonly demoOnly?: string | undefined;
  /** For a cell with a directory. */
  readonly claims?: NameClaims | undefined;
}

interface Progress {
  readonly step: 'reading' | 'checking' | 'comparing' | 'writing';
  readonly done: number;
  readonly of: number;
}

export interface ImportOptions {
  /** Adjusts the balances of existing accounts to the extract's figures. ImportRefusedError without `asOf`. */
  readonly adjustBalances?: boolean;
  /** The figures include this service's postings up to this moment. Default: the moment in institution.csv. */
  readonly asOf?: Date;
  /** Carries out removals that look like a truncated file. */
  readonly allowRemovals?: boolean;
  /** The mapping of the columns of a core's own files; default: extract-columns.json of the folder, if it exists. */
  readonly columns?: string;
  /**
   * Leaves out rows with errors and the rows that depend on them, instead of refusing the extract. Gets the errors by file and line
   * before the plan, and before anything is written; also if there are none.
   */
  readonly onRejected?: (rows: AsyncIterable<readonly RejectedRow[]>) => Promise<void>;
  /** Default: `once`. ImportRefusedError without it for a later import that would hold up members. */
  readonly commit?: Commit;
  /** Stops after the plan. */
  readonly dryRun?: boolean;
  readonly origin?: Origin;
  /** Called with the plan before anything is written, also in a dry run. */
  readonly onPlan?: (plan: ImportPlan) => void;
  readonly onProgress?: (progress: Progress) => Promise<void> | void;
  /** Called once if another import of the same institution is running; this one waits for it. */
  readonly onWait?: () => void;
}

export interface ImportReport {
  readonly code: string;
  /** Undefined for a new institution in a dry run. */
  readonly institution: Institution | undefined;
  readonly persons: number;
  readonly members: number;
  readonly accounts: number;
  readonly openedAccounts: number;
  readonly adjustedAccounts: number;
  readonly plan: ImportPlan;
}

const clearedAtOnce = 20_000;

/**
 * Imports an extract: an institution, its persons, memberships, accounts and holders.
 *
 * The files are read into a stage, checked there (ExtractRejectedError lists every error, unless `onRejected` gets them) and compared with the tables. The differences
 * are written in one transaction or, if asked for, by ranges of some thousand rows, each complete in itself; equal rows are not touched. Memory
 * does not grow with the files. A killed import has changed nothing, or, written by range, is completed by running it again. A row that the extract omits stays, except persons of a membership
 * and holders of an account: the extract names all of them. ImportRefusedError: the import would remove suspiciously many.
 *
 * A new account opens with a posting against the core's settlement account. The ledger keeps the balance of an existing
 * account; `adjustBalances` brings it to the extract's figure.
 */
export async function importExtract(
  deps: ImportDeps,
  folder: string,
  options: ImportOptions = {},
): Promise<ImportReport> {
  return deps.database.session(async (session) => {
    const complaints = new Complaints(options.onRejected && new RejectedRows());
    const mapping = await readExtractMapping(folder, coreShapes, options.columns);
    const heading = await readHeading(folder, complaints);
    const { code } = heading;
    if (!(await session.directory((db) => tryImportLock(db, code)))) {
      options.onWait?.();
      while (!(await session.directory((db) => awaitImportLock(db, code))));
    }
    try {
      await clearRuns(session, code);
      return await importStaged({ deps, session, options }, { folder, heading, complaints, mapping });
    } finally {
      // A lost connection has released its lock, and the next import clears the stage.
      await clearRuns(session, code).catch(() => {});
      await session.directory((db) => releaseImportLock(db, code)).catch(() => {});
    }
  });
}

/** Deletes the staged rows of imports that no longer run. The caller holds the lock of `ours`. */
async function clearRuns(session: Session, ours: string): Promise<void> {
  for (const { code, institutionId } of await session.directory(selectRuns)) {
    if (code !== ours && !(await session.directory((db) => tryImportLock(db, code)))) continue;
    if (!(await session.directory((db) => emptyStageOf(db, code)))) {
      const clear = () => session.transaction(institutionId, (tx) => clearStage(tx, clearedAtOnce));
      while (!(await clear()));
    }
    await session.directory((db) => deleteRun(db, code));
    if (code !== ours) await session.directory((db) => releaseImportLock(db, code));
  }
}

interface Run {
  readonly deps: ImportDeps;
  readonly session: Session;
  readonly options: ImportOptions;
}

async function importStaged(
  run: Run,
  extract: StagedFiles & { readonly heading: Heading },
): Promise<ImportReport> {
  const { deps, session, options } = run;
  const { heading, complaints } = extract;
  const { code, settings } = heading;
  const report = (step: Progress['step'], done: number, of: number) =>
    options.onProgress?.({ step, done: Math.min(done, of), of });
  const known = await session.directory((db) => findInstitutionByCode(db, code));
  if (known !== undefined && known.served !== 'here')
    throw new ImportRefusedError(
      `This cell does not serve "${code}". Its other cell is "${known.otherCell}": import the extract there.`,
    );
  // Before the rows are read, since they are staged under the number.
  const claimed =
    known === undefined && options.dryRun !== true ? await deps.claims?.institution(code) : undefined;
  const stageId = await session.directory((db) => insertRun(db, code, known?.institutionId ?? claimed));
  const staging = { session, institutionId: stageId };
  let stage = await readIntoStage(staging, extract, report);
  if (settings === undefined)
    throw new Error('core-system: an extract without an institution was not rejected');
  if (deps.demoOnly !== undefined && !settings.demo) throw new ExtractRejectedError([deps.demoOnly]);
  if (known !== undefined) await checkAgainstBefore(session, { institution: known, settings }, complaints);
  complaints.refuse();
  let rejected = {};
  const { rejects } = complaints;
  if (rejects !== undefined) {
    stage = await unstageRejected(staging, rejects);
    rejected = await countRejected(staging);
    await options.onRejected?.(listRejected(staging));
  }
  const { contents, unheld } = stage;

  const figures = figuresOf(deps, heading, options);
  const isLater = await session.transaction(stageId, hasMembers);
  const sizes = rangeSizes[options.commit ?? (isLater ? 'by-range' : 'once')];
  const rows =
    known === undefined
      ? addAll(contents)
      : await compareStage(staging, { contents, figures, sizes }, (done, of) =>
          report('comparing', done, of),
        );
  const commit = options.commit ?? defaultCommit(isLater ? rows.ranges : undefined);
  const changedSettings = settingsThatDiffer(known, settings, heading.named);
  const plan: ImportPlan = { commit, settings: changedSettings, unheld, rejected, ...rows };
  options.onPlan?.(plan);
  const removals = suspiciousRemovals(plan, rejects?.misplaced ?? new Set());
  if (removals.length > 0 && options.allowRemovals !== true) {
    throw new ImportRefusedError(
      `The import would remove ${removals.join(', and ')}. Nothing was changed. A truncated file looks like this, and so does a rejected row with a misspelled key. If the removals are right, run the import again with --allow-removals.`,
    );
  }
  const outcome = { code, institution: known, plan, ...contents, openedAccounts: 0, adjustedAccounts: 0 };
  if (options.dryRun === true || leavesNothing(plan)) return outcome;
  if (commit === undefined)
    throw new ImportRefusedError(
      'The import changes many rows of an institution that has members. Run it again with --commit once or with --commit by-range. Nothing was changed.',
    );
  const write = async (writing: Writing) => {
    const institution = await begin(run, writing, { stageId, known, settings, contents, plan });
    const moved = await writeStage(writing, plan, {
      contents,
      sizes,
      figures,
      now: deps.clock,
      onRows: (done, of) => report('writing', done, of),
    });
    await finish(run, writing, moved);
    return { institution, moved };
  };
  const { institution, moved } =
    commit === 'once' ? await writeAtOnce(staging, write) : await write(writeByRange(staging));
  return { ...outcome, institution, openedAccounts: moved.opened, adjustedAccounts: moved.adjusted };
}

/** ImportRefusedError without the moment of the figures: adjusted to them, balances would lose the transfers made since. */
function figuresOf(deps: ImportDeps, heading: Heading, options: ImportOptions): Figures {
  const asOf = options.asOf ?? heading.asOf;
  const adjust = options.adjustBalances === true;
  if (adjust && asOf === undefined) {
    throw new ImportRefusedError(
      'Balances can be adjusted only to figures of a known moment. Give it with --as-of, or in the column balances_as_of of institution.csv. Transfers posted after the moment are added to the figures. Nothing was changed.',
    );
  }
  if (asOf !== undefined && asOf > deps.clock()) {
    throw new ImportRefusedError('The moment of the balances is in the future. Nothing was changed.');
  }
  // The figures include postings at the moment itself; times are kept in milliseconds.
  return { adjust, adjustLoans: adjust, from: asOf === undefined ? null : new Date(asOf.getTime() + 1) };
}

/** Saves the institution with its settings and its internal accounts, and records the start in the audit. */
async function begin(
  { deps, options }: Run,
  writing: Writing,
  extract: {
    readonly stageId: InstitutionId;
    readonly known: Institution | undefined;
    readonly settings: InstitutionSettings;
    readonly contents: StageContents;
    readonly plan: ImportPlan;
  },
): Promise<Institution> {
  const { stageId, known, settings, contents, plan } = extract;
  return writing.range(async (tx) => {
    const at = deps.clock();
    const { before, after } = plan.settings;
    const settingsDiffer = Object.keys(after).length > 0;
    let institution = known ?? (await insertInstitution(tx, settings, at, stageId));
    if (known !== undefined && settingsDiffer)
      institution = await updateInstitution(tx, { name: settings.name, timeZone: settings.timeZone });
    await openInternalAccounts(tx, [...new Set([settings.currency, ...contents.currencies])], at);
    const entry = { outcome: 'succeeded', origin: originOf(options) } as const;
    if (settingsDiffer) await appendAudit(tx, { ...entry, action: 'institution.changed', before, after }, at);
    const planned = { ...countsOf(plan), adjustBalances: options.adjustBalances === true };
    await appendAudit(tx, { ...entry, action: 'import.started', after: planned }, at);
    return institution;
  });
}

async function finish({ deps, options }: Run, writing: Writing, moved: Moved): Promise<void> {
  const { opened, adjusted, adjustedIds } = moved;
  const after = { opened, adjusted, ...(adjusted > 0 && { adjustedAccounts: adjustedIds }) };
  const entry = {
    action: 'import.finished',
    outcome: 'succeeded',
    origin: originOf(options),
    after,
  } as const;
  await writing.range((tx) => appendAudit(tx, entry, deps.clock()));
}

function originOf(options: ImportOptions): Origin {
  return options.origin ?? ownOrigin();
}
