import type { CommandOrigin, Origin } from '../events/index.ts';
import type { Actor } from '../institutions/index.ts';
import { Problem } from '../shared/problem.ts';
import type { Database, InstitutionId } from '../storage/index.ts';
import { personOf } from './desk/batch.ts';
import { businessNow } from './desk/settle.ts';
import type { TransferDesk } from './desk/transfer-desk.ts';
import { type Consent, consentOfTwo } from './dual-control/dual-control.ts';
import {
  firstPlace,
  type PendingPlace,
  type ReviewRow,
  selectDue,
  selectPendingPage,
} from './pending-queries.ts';
import { selectReversedKeys, selectTransfersById } from './queries.ts';
import { maySee } from './rules/decide.ts';
import type { Act, ActOutcome, Outcome, Transfer } from './rules/transfer.ts';

/**
 * Cancels a pending transfer: its hold is released and what it counted is given back. Cancelling it again answers the
 * same. Problems: `not_found` (none, or not the caller's to see), `transfer_final` (it was posted, or failed for
 * another reason), `account_restricted` (the caller sees it, but may not pay from its source), and those of
 * `initiateTransfer`.
 */
export async function cancelTransfer(
  desk: TransferDesk,
  database: Database,
  actor: Actor,
  transferId: string,
  origin: Origin,
): Promise<Transfer> {
  const { institutionId } = actor;
  const known = await find(database, institutionId, transferId, personOf(actor));
  // Before the accounts are locked: another's transfer takes as long as one that does not exist.
  if (known === undefined || !maySee(actor, known)) throw noSuchTransfer();
  const outcome = await submitAct(desk, institutionId, known, { kind: 'cancel', actor, origin });
  switch (outcome.kind) {
    case 'changed':
      return outcome.transfer;
    case 'unknown':
      throw noSuchTransfer();
    case 'unchanged':
      if (outcome.why === 'not_allowed') {
        throw new Problem(
          'account_restricted',
          'The source account does not allow this caller to pay from it.',
        );
      }
      if (outcome.transfer.failureCode === 'transfer_cancelled') return outcome.transfer;
      throw new Problem('transfer_final', 'The transfer is no longer pending.');
  }
}

function noSuchTransfer(): Problem {
  return new Problem('not_found', 'There is no such transfer.');
}

/** An operator's approval or refusal. A second approval by the same person counts for nothing. */
export async function reviewTransfer(
  desk: TransferDesk,
  database: Database,
  institutionId: InstitutionId,
  transferId: string,
  act: Extract<Act, { origin: CommandOrigin }>,
): Promise<ActOutcome> {
  const known = await find(database, institutionId, transferId);
  return known === undefined ? { kind: 'unknown' } : submitAct(desk, institutionId, known, act);
}

/**
 * Takes a completed transfer back by a new one in the other direction, once at most: `new` (COMPLETED, or FAILED where
 * whoever was paid no longer has it), `replayed` for the same id again, `unchanged` where there is nothing to reverse.
 * Under dual control `proposed`, until another person does the same.
 */
export async function reverseTransfer(
  desk: TransferDesk,
  database: Database,
  institutionId: InstitutionId,
  reversal: { readonly originalId: string; readonly transferId: string; readonly origin: CommandOrigin },
): Promise<Outcome | ActOutcome | Extract<Consent, { kind: 'proposed' }>> {
  const { originalId, transferId, origin } = reversal;
  const [original, used, isReversed] = await database.read(institutionId, async (db) => {
    const asked = [originalId, transferId].map((id) => ({ transferId: id, personKey: null }));
    const [rows, reversed] = await Promise.all([
      selectTransfersById(db, institutionId, asked),
      selectReversedKeys(db, institutionId, [originalId]),
    ]);
    const byId = (id: string) => rows.find((row) => row.id === id);
    return [byId(originalId), byId(transferId), reversed.size > 0] as const;
  });
  if (original === undefined) return { kind: 'unknown' };
  const { fromAccountId, toAccountId } = original;
  // The desk refuses the rest, and needs no second person for that.
  const isReversible = original.status === 'COMPLETED' && original.reversesKey === null && !isReversed;
  if (isReversible && used === undefined) {
    const about = { kind: 'REVERSAL', subject: originalId } as const;
    const consent = await database.transaction(institutionId, (tx) =>
      consentOfTwo(tx, about, origin, desk.deps.clock()),
    );
    if (consent.kind === 'proposed') return consent;
  }
  return desk.queue.submit(institutionId, { kind: 'reverse', ...reversal, fromAccountId, toAccountId });
}

const pageLength = 1_000;

/** All that is pending, the first due first, read a page at a time. */
export async function* listPending(
  database: Database,
  institutionId: InstitutionId,
): AsyncGenerator<ReviewRow> {
  let after: PendingPlace = firstPlace;
  for (;;) {
    const page = await database.read(institutionId, (db) =>
      selectPendingPage(db, institutionId, after, pageLength),
    );
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < pageLength) return;
    after = last;
  }
}

const dueAtOnce = 256;

/**
 * Posts or expires the pending transfers of an institution whose time has come. Any process may, at any time: each is an
 * order like others, and whoever comes second changes nothing. One that cannot be settled now holds up none behind it; the
 * next sweep tries again. Answers how many it changed; throws where it could change none for a fault.
 */
export async function settleDue(
  desk: TransferDesk,
  database: Database,
  institutionId: InstitutionId,
  atOnce = dueAtOnce,
): Promise<number> {
  const act = { kind: 'due' } as const;
  let changed = 0;
  let failed: PromiseRejectedResult | undefined;
  for (let after: PendingPlace | undefined = firstPlace; after !== undefined; ) {
    const place: PendingPlace = after;
    const due = await database.read(institutionId, (db) =>
      selectDue(db, institutionId, businessNow(desk.deps, institutionId), place, atOnce),
    );
    const results = await Promise.allSettled(
      due.map(({ transferId, fromAccountId, toAccountId }) =>
        desk.queue.submit(institutionId, { kind: 'transition', transferId, fromAccountId, toAccountId, act }),
      ),
    );
    for (const result of results) {
      if (result.status === 'rejected') failed ??= result;
      else if (result.value.kind === 'changed') changed += 1;
    }
    after = due.length < atOnce ? undefined : due.at(-1);
  }
  if (failed !== undefined && changed === 0) throw failed.reason;
  return changed;
}

async function submitAct(
  desk: TransferDesk,
  institutionId: InstitutionId,
  { id: transferId, fromAccountId, toAccountId }: Transfer,
  act: Act,
): Promise<ActOutcome> {
  const order = { kind: 'transition', transferId, fromAccountId, toAccountId, act } as const;
  return (await desk.queue.submit(institutionId, order)) as ActOutcome;
}

/** As `personKey` may see it; null for the institution itself. */
async function find(
  database: Database,
  institutionId: InstitutionId,
  transferId: string,
  personKey: bigint | null = null,
) {
  const rows = await database.read(institutionId, (db) =>
    selectTransfersById(db, institutionId, [{ transferId, personKey }]),
  );
  return rows[0];
}
