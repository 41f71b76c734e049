import { insertCellKey, longestTokenSeconds, selectKeysOfInstitution } from '../auth/index.ts';
import type { CellDirectory } from '../cell-directory/index.ts';
import { appendAudit, type CommandOrigin, insertEpochOfMove, wholeService } from '../events/index.ts';
import {
  copyInstitution,
  findInstitution,
  findInstitutionByCode,
  type Institution,
  insertArriving,
  openArrived,
  updateArriving,
  updateServed,
} from '../institutions/index.ts';
import { type Finding, insertRun, KeptFindings, reconcile, selectLastRun } from '../reconciliation/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Clock, InstitutionId } from '../storage/index.ts';
import {
  type Cells,
  findCells,
  refuse,
  requireFit,
  requireListed,
  requireRights,
  type Secrets,
} from './check.ts';
import { compareSides } from './compare.ts';
import { buildFence, closeFence } from './fence.ts';
import { continueKeys } from './key-numbers.ts';
import {
  type Channel,
  channelOf,
  destinationOf,
  isChannelWhole,
  publish,
  standbysBehind,
  subscribe,
  unpublish,
  unsubscribe,
  waitForApplied,
  waitForCopies,
} from './replication.ts';
import { directoryCalled, inTransaction, nameAway, of, run, type Side } from './side.ts';
import { listTables, type MovedTable, tablesOfCopy, thatMove } from './tables.ts';

/*
 * The move of an institution from one cell to another. Its steps are stored nowhere else than in the state of the institution in both
 * databases, its place in the directory, the publication and the subscription; so a move that was interrupted at any point is repeated, or undone.
 *
 * The institution is served by one cell at most: the source lets go in one transaction before the target opens it in another.
 */

/** The steps of a move, in order. */
export const moveSteps = [
  'reconcile_here',
  'fence',
  'publish',
  'arrive',
  'copy',
  'close',
  'follow',
  'compare',
  'let_go',
  'switch',
  'open',
  'tidy',
  'reconcile_there',
] as const;
export type MoveStep = (typeof moveSteps)[number];

export interface MoveDeps {
  readonly source: Side;
  readonly target: Side;
  /** The directory of the cells, if they have one. */
  readonly directory?: CellDirectory | undefined;
  readonly secrets: Secrets;
  readonly clock: Clock;
  readonly origin: CommandOrigin;
  /** Before each step, and with the progress of the copy. */
  readonly onStep?: (step: MoveStep, detail?: string) => Promise<void>;
  /** A move whose institution cannot open in time opens it at the source again. */
  readonly pauseMillis?: number;
  /** How long it waits for standbys for which no commit waits. Default: ten seconds. */
  readonly standbyPatienceMillis?: number;
  /** How long it waits for another command on the same institution. Default: five seconds. */
  readonly lockPatienceMillis?: number;
}

export interface Moved {
  /** How long the institution was closed; undefined for a move that had only to be tidied. */
  readonly pauseMillis: number | undefined;
  /** Rows that were compared on both sides. */
  readonly rows: bigint;
  /** Of reconcile at the target, behind the move. */
  readonly findings: readonly Finding[];
}

interface Move extends MoveDeps {
  readonly institution: Institution;
  readonly cells: Cells;
  readonly tables: readonly MovedTable[];
  readonly channel: Channel;
}

const longestPauseMillis = 120_000;
/** The institution closes when the target is no further behind than it applies in this time. */
const lagPatienceMillis = 60_000;
const usualStandbyPatienceMillis = 10_000;
/** Clocks of two processes differ by less (src/auth/keys/key-states.ts). */
const skewSeconds = 300;

/** Moves the institution, or goes on with a move that was interrupted. Throws MoveRefusedError before it changes anything. */
export function moveInstitution(deps: MoveDeps, code: string, to: string): Promise<Moved> {
  return alone(deps, { code, to }, async (move) => {
    const { source, target, institution } = move;
    const { institutionId } = institution;
    const there = await findInstitution(target.db, institutionId);
    if (institution.served === 'left' && there?.served === 'here') {
      await switchDirectory(move);
      await tidy(move);
      return { pauseMillis: undefined, rows: 0n, findings: await reconcileThere(move) };
    }
    if (institution.served === 'arriving' || institution.served === 'gone')
      refuse(
        `"${code}" is not served by this cell: it is ${institution.served}, and the other cell is "${institution.otherCell}".`,
      );
    const begun = await destinationOfMove(move);
    if (begun !== undefined && begun !== to)
      refuse(`"${code}" is on its way to the cell "${begun}". Undo that move first.`);
    await requireFit(source, target, move);
    if (institution.served !== 'left') await requireListed(move);
    if (institution.served !== 'here' && there?.served !== 'arriving')
      refuse(
        `The cell "${to}" does not know that "${code}" arrives. It may have been restored from a backup: undo the move here.`,
      );
    if (institution.served === 'here') await requireInOrder(move);
    if (!(await isChannelWhole(source, target, move.channel)))
      refuse(
        `The replication of "${code}" has lost its slot at the source, as after a fail-over. Undo the move, and begin it anew.`,
      );
    if (institution.served === 'here') await prepare(move);
    const closedAt = performance.now();
    // The target may have been restored to an earlier moment since the source let go.
    const rows =
      institution.served === 'left'
        ? await proveWhole(move, { closedAt, otherwise: `Nothing has opened. Undo the move of "${code}".` })
        : await close(move, closedAt);
    await open(move);
    const pauseMillis = performance.now() - closedAt;
    await tidy(move);
    return { pauseMillis, rows, findings: await reconcileThere(move) };
  });
}

/** The cell of a move that has begun; undefined if none has. The institution is open while its copy is made. */
async function destinationOfMove({ source, institution, channel }: Move): Promise<string | undefined> {
  return institution.otherCell ?? (await destinationOf(source, channel));
}

/** Everything that needs no pause: the fence, which is still open, and a copy that follows the source. */
async function prepare(move: Move): Promise<void> {
  const { source, target, institution, cells, tables, channel, onStep } = move;
  const { institutionId, code } = institution;
  await onStep?.('fence');
  await buildFence(source.db, tables, [institutionId]);
  await onStep?.('publish');
  await publish(source, channel, { institutionId, tables, to: cells.target.name });
  await onStep?.('arrive');
  const copied = await copyInstitution(source.db, institutionId);
  const there = await findInstitution(target.db, institutionId);
  if (there === undefined) await insertArriving(target.db, copied, cells.source.name);
  else if (there.served !== 'arriving')
    await updateArriving(target.db, institutionId, { copied, from: cells.source.name });
  await inTransaction(target.db, () => copyDirectory(move));
  await buildFence(target.db, tables);
  await onStep?.('copy');
  await subscribe(target, source, channel);
  await waitForCopies(source, target, {
    channel,
    onProgress: (done, of) => void onStep?.('copy', `${done} of ${of} tables`),
  });
  await continueKeys(target, institutionId, tables);
  if (!(await waitForApplied(source, channel.slot, lagPatienceMillis)))
    refuse(
      'The other cell cannot keep up with the changes of this one. Repeat the command at a quieter time.',
    );
  const behind = await standbysBehindIn(source, move);
  if (behind !== undefined)
    refuse(
      `${behind} of this cell is behind, and a fail-over could open "${code}" here again. Repeat the command once it has caught up, or detach it.`,
    );
}

/**
 * A standby that is promoted without the end of the institution here would serve it beside the target. Undefined: each standby has all, or
 * commits wait for one.
 */
async function standbysBehindIn(
  side: Side,
  { standbyPatienceMillis = usualStandbyPatienceMillis }: Move,
): Promise<string | undefined> {
  const behind = await standbysBehind(side, standbyPatienceMillis);
  return behind.length === 0 ? undefined : `The standby ${behind.map((name) => `"${name}"`).join(', ')}`;
}

/** The books of the institution on one side: the first faults of each kind. The run stays on record there, and moves along. */
async function findingsOf(side: Side, { institution, clock }: Move): Promise<readonly Finding[]> {
  const { institutionId, clockAheadSeconds } = institution;
  const findings = new KeptFindings();
  const startedAt = clock();
  const checkpoint = await reconcile(side.database, institutionId, {
    at: new Date(startedAt.getTime() + Number(clockAheadSeconds) * 1000),
    onFinding: (finding) => findings.add(finding),
  });
  const run = { startedAt, finishedAt: clock(), findings, checkpoint };
  await inInstitution(side, institutionId, () => insertRun(of(side, institutionId), run));
  return findings.kept;
}

/** Triggers and policies read the institution of the transaction. */
function inInstitution<T>({ db }: Side, institutionId: InstitutionId, work: () => Promise<T>): Promise<T> {
  return inTransaction(db, async () => {
    await run(db, `select set_config('sharedraft.institution', $1, true)`, [String(institutionId)]);
    return work();
  });
}

async function requireInOrder(move: Move): Promise<void> {
  const { code } = move.institution;
  await move.onStep?.('reconcile_here');
  const [finding] = await findingsOf(move.source, move);
  if (finding === undefined) return;
  refuse(
    `reconcile finds faults of "${code}" here, which would move along: run "sharedraft reconcile --institution ${code}". The first is ${finding.check} ${finding.row}: ${finding.detail}`,
  );
}

/** Behind the move: the institution is open, so that no pause depends on its size. Both cells note both runs. */
async function reconcileThere(move: Move): Promise<readonly Finding[]> {
  const { source, target, cells, institution } = move;
  const { institutionId, code } = institution;
  await move.onStep?.('reconcile_there');
  const findings = await findingsOf(target, move);
  const [here, there] = await Promise.all([source, target].map((side) => lastRun(side, institutionId)));
  const runs = {
    before: { cell: cells.source.name, reconcile: here },
    after: { cell: cells.target.name, reconcile: there },
  };
  const facts = { action: 'institution.move_reconciled', outcome: 'succeeded', subject: code } as const;
  const entry = { ...facts, ...runs, origin: move.origin };
  for (const [side, place] of [
    [target, institutionId],
    [source, wholeService],
  ] as const)
    await inInstitution(side, place, () => appendAudit(of(side, place), entry, move.clock()));
  return findings;
}

/** Null: no complete run is on record, as in a cell that has deleted its copy. */
async function lastRun(side: Side, institutionId: InstitutionId) {
  return (await selectLastRun(of(side, institutionId))) ?? null;
}

/** From the last change at the source to the proof that the target has the same rows. Returns their number. */
async function close(move: Move, closedAt: number): Promise<bigint> {
  const { source, institution, cells, onStep } = move;
  const { institutionId } = institution;
  try {
    await onStep?.('close');
    if (institution.served === 'here')
      await closeFence(source.db, institutionId, () =>
        updateServed(source.db, institutionId, { served: 'leaving', otherCell: cells.target.name }),
      );
    const rows = await proveWhole(move, { closedAt, otherwise: 'The institution is open here again.' });
    await onStep?.('let_go');
    await inTransaction(source.db, async () => {
      await updateServed(source.db, institutionId, { served: 'left', otherCell: cells.target.name });
      await note(source, wholeService, move, 'institution.left');
    });
    return rows;
  } catch (error) {
    // Nothing has opened at the target, so the source goes on.
    await closeFence(source.db, institutionId, () =>
      updateServed(source.db, institutionId, { served: 'here', otherCell: null }),
    ).catch(() => {});
    throw error;
  }
}

/** Compares the target with the source, which stands still, once it has the last changes. Returns the number of rows. */
async function proveWhole(
  { source, target, institution, tables, channel, onStep, pauseMillis = longestPauseMillis }: Move,
  { closedAt, otherwise }: { readonly closedAt: number; readonly otherwise: string },
): Promise<bigint> {
  await onStep?.('follow');
  if (!(await waitForApplied(source, channel.slot, pauseMillis - (performance.now() - closedAt))))
    throw new Error(`The other cell did not apply the last changes in time. ${otherwise}`);
  await onStep?.('compare');
  const { rows, differing } = await compareSides([source, target], institution.institutionId, tables);
  if (differing.length > 0)
    throw new Error(`The two cells have other rows in ${differing.join(', ')}. ${otherwise}`);
  return rows;
}

/**
 * From here on requests find the target, which answers that the institution is moving. The source has let go, and a name in the directory
 * opens nothing, so still no two cells serve. Idempotent. Returns the number of this move.
 */
async function switchDirectory({ directory, institution, cells, onStep }: Move): Promise<number> {
  if (directory === undefined) return institution.moves + 1;
  await onStep?.('switch');
  return directory.place(institution, { from: cells.source.name, to: cells.target.name }).catch((cause) => {
    if (!(cause instanceof Problem)) throw cause;
    throw new Error(
      `"${institution.code}" has left this cell, and the directory cannot be switched: ${cause.detail} Repeat the command, or undo it.`,
      { cause },
    );
  });
}

/** Opens the institution at the target: in one transaction, with all that could not be copied ahead. */
async function open(move: Move): Promise<void> {
  const { source, target, institution, onStep, clock } = move;
  const { institutionId, code } = institution;
  const behind = await standbysBehindIn(source, move);
  if (behind !== undefined)
    throw new Error(
      `"${code}" has left this cell, and opens nowhere yet: ${behind} does not know that. Repeat the command, or undo it.`,
    );
  const moves = await switchDirectory(move);
  await onStep?.('open');
  const copied = await copyInstitution(source.db, institutionId);
  const now = clock();
  await inTransaction(target.db, async () => {
    await run(target.db, `select set_config('sharedraft.institution', $1, true)`, [String(institutionId)]);
    await openArrived(target.db, institutionId, { copied, moves });
    await copyDirectory(move);
    await copyAuditKeys(source, target);
    await insertEpochOfMove(of(target, institutionId), now);
    await note(target, institutionId, move, 'institution.arrived');
  });
}

/**
 * The rows by which the target knows the institution's requests: ahead of the pause, so that it answers them with 503 and not as those
 * of a stranger, and again at the end of it. As a replica, since rows of before may refer to the directory.
 */
async function copyDirectory({
  source,
  target,
  institution: { institutionId },
  tables,
  clock,
}: Move): Promise<void> {
  await run(target.db, `set local session_replication_role = 'replica'`);
  for (const { name } of thatMove(tables, 'at_the_end')) {
    const table = `public."${name}"`;
    const [row] = await run<{ copy: string }>(
      source.db,
      `select coalesce(jsonb_agg(to_jsonb(t)), '[]')::text as copy from ${table} t where institution_id = $1`,
      [institutionId],
    );
    await run(target.db, `delete from ${table} where institution_id = $1`, [institutionId]);
    await run(
      target.db,
      `insert into ${table} select * from jsonb_populate_recordset(null::${table}, $1::jsonb)`,
      [row?.copy],
    );
  }
  await run(target.db, `set local session_replication_role = 'origin'`);
  const verifiesUntil = new Date(clock().getTime() + (longestTokenSeconds + skewSeconds) * 1000);
  for (const key of await selectKeysOfInstitution(source.db, institutionId))
    await insertCellKey(target.db, { ...key, institutionId, verifiesUntil });
}

/** Anchors of the audit are verified with the keys of the cell that signed them. */
async function copyAuditKeys(source: Side, target: Side): Promise<void> {
  const [row] = await run<{ copy: string }>(
    source.db,
    `select coalesce(jsonb_agg(to_jsonb(k)), '[]')::text as copy from public."audit_keys" k`,
  );
  await run(
    target.db,
    `insert into public."audit_keys" select * from jsonb_populate_recordset(null::public."audit_keys", $1::jsonb)
     on conflict do nothing`,
    [row?.copy],
  );
}

/** Removes the subscription and the publication of the move, and brings the target's fence up to date. */
async function tidy({ source, target, channel, tables, onStep }: Move): Promise<void> {
  await onStep?.('tidy');
  await unsubscribe(target, source, channel.slot);
  await unpublish(source, channel);
  await buildFence(target.db, tables);
}

/** Undoes a move that has not opened the institution at the target. */
export function undoMove(deps: MoveDeps, code: string, to: string): Promise<void> {
  return alone(deps, { code, to }, async (move) => {
    const { source, target, institution, tables, channel } = move;
    const { institutionId, otherCell } = institution;
    if (institution.served === 'arriving' || institution.served === 'gone')
      refuse(`"${code}" is not served by this cell. Undo its move where it comes from.`);
    // A third cell does not know the institution, and looks like a target that was restored.
    const begun = await destinationOfMove(move);
    if (begun !== undefined && begun !== to)
      refuse(`The move of "${code}" is one to the cell "${begun}". Name that cell.`);
    const there = await findInstitution(target.db, institutionId);
    const arrives = there?.served === 'arriving' && there.otherCell === move.cells.source.name;
    // A target that was restored to a moment before the move does not know it.
    if (institution.served === 'left' && !arrives && there !== undefined)
      refuse(`"${code}" was opened at the cell "${otherCell}". Move it back from there.`);
    // The directory changes behind `let_go` only. An undo before that goes on without it.
    const moves = institution.served === 'left' ? await placeBack(move) : institution.moves;
    // The source first: it ends the pause, and a move that is repeated from here still fits.
    await inTransaction(source.db, async () => {
      if (institution.served !== 'here')
        await updateServed(source.db, institutionId, { served: 'here', otherCell: null, moves });
      await note(source, institutionId, move, 'institution.move_undone');
    });
    if (arrives) {
      await unsubscribe(target, source, channel.slot);
      await deleteCopy(target, institution, tables);
      await updateServed(target.db, institutionId, { served: 'gone', otherCell: move.cells.source.name });
    }
    await unpublish(source, channel);
    await buildFence(source.db, tables);
  });
}

/**
 * The way back is a move as well: the target may have been open, and was restored to an earlier moment. It is behind the move that it undoes,
 * so a switch of that one which arrives late changes nothing. Returns its number.
 */
async function placeBack({ directory, institution, cells }: Move): Promise<number> {
  const [from, to] = [cells.target.name, cells.source.name];
  if (directory === undefined) return institution.moves + 2;
  const moves = institution.moves + 1;
  return directory.place({ ...institution, moves }, { from, to }).catch((error) => {
    throw nameAway(error, directoryCalled);
  });
}

/** Deletes the copy that the source has kept. The row of the institution stays, and refuses its requests. */
export function confirmMove(deps: MoveDeps, code: string, to: string): Promise<void> {
  return alone(deps, { code, to }, async (move) => {
    const { source, target, institution, tables } = move;
    const { institutionId } = institution;
    if (institution.served !== 'left') refuse(`This cell keeps no copy of "${code}" that has moved away.`);
    // One that is only known there, for instance in a database that was restored, is no reason to delete the last copy.
    const there = await findInstitution(target.db, institutionId);
    if (there?.served !== 'here' && there?.served !== 'leaving')
      refuse(
        `"${code}" is not open at the cell "${to}". Repeat the move, undo it, or name the cell at which it is open.`,
      );
    const behind = await standbysBehindIn(target, move);
    if (behind !== undefined)
      refuse(
        `${behind} of the cell "${to}" is behind, and a fail-over there could need this copy. Repeat the command once it has caught up.`,
      );
    await tidy(move);
    await deleteCopy(source, institution, tables);
    await inTransaction(source.db, async () => {
      await updateServed(source.db, institutionId, { served: 'gone', otherCell: to });
      await note(source, wholeService, move, 'institution.move_confirmed');
    });
  });
}

/** As a replica, since triggers keep rows of the journal and of the audit from being deleted. */
async function deleteCopy(
  { db }: Side,
  { institutionId }: Institution,
  tables: readonly MovedTable[],
): Promise<void> {
  await run(db, `set session_replication_role = 'replica'`);
  for (const { name } of tablesOfCopy(tables))
    await run(db, `delete from public."${name}" where institution_id = $1`, [institutionId]);
  await run(db, `set session_replication_role = 'origin'`);
  await run(db, 'delete from public."cell_keys" where institution_id = $1', [institutionId]);
}

async function note(
  side: Side,
  place: Institution['institutionId'],
  { institution, cells, clock, origin }: Move,
  action:
    | 'institution.left'
    | 'institution.arrived'
    | 'institution.move_undone'
    | 'institution.move_confirmed',
): Promise<void> {
  const [subject, from, to] = [institution.code, cells.source.name, cells.target.name];
  const after = { from, to, reconcile: await lastRun(side, institution.institutionId) };
  await appendAudit(of(side, place), { action, outcome: 'succeeded', subject, after, origin }, clock());
}

/**
 * Key of the lock that a command on a move holds on both sides, with the number of the institution. A server may still commit for a command
 * that was killed, or lost its other side: an undo that did not wait would open what is about to open there.
 */
const commandLock = 7_305_106;
const usualLockPatienceMillis = 5_000;

/** Checks both sides, and runs the work unless another command moves the same institution. */
async function alone<T>(
  deps: MoveDeps,
  { code, to }: { readonly code: string; readonly to: string },
  work: (move: Move) => Promise<T>,
): Promise<T> {
  const { source, target, lockPatienceMillis = usualLockPatienceMillis } = deps;
  await requireRights(source, 'MIGRATION_DATABASE_URL');
  await requireRights(target, 'CELL_DATABASE_URL');
  const cells = await findCells(source, target, to);
  const known = await findInstitutionByCode(source.db, code);
  if (known === undefined) {
    const place = await deps.directory?.findCode(code).catch(() => undefined);
    refuse(
      place === undefined
        ? `The institution "${code}" does not exist.`
        : `The institution "${code}" is not in this cell. The cell "${place.cell}" serves it, as the directory says.`,
    );
  }
  const { institutionId } = known;
  const until = performance.now() + lockPatienceMillis;
  const sides = [source, target];
  try {
    for (const side of sides)
      if (!(await lockCommand(side, institutionId, until))) refuse(`Another command is moving "${code}".`);
    const institution = (await findInstitution(source.db, institutionId)) as Institution;
    const tables = await listTables(source.db);
    const channel = await channelOf(source, institutionId);
    return await work({ ...deps, institution, cells, tables, channel });
  } finally {
    for (const { db } of sides)
      await run(db, 'select pg_advisory_unlock($1, $2)', [commandLock, institutionId]).catch(() => {});
  }
}

/** False: another command has it for longer. */
async function lockCommand({ db }: Side, institutionId: InstitutionId, until: number): Promise<boolean> {
  for (;;) {
    const [lock] = await run<{ taken: boolean }>(db, 'select pg_try_advisory_lock($1, $2) as taken', [
      commandLock,
      institutionId,
    ]);
    if (lock?.taken) return true;
    if (performance.now() > until) return false;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
