import { appendAudit, type Origin, whatChanged } from '../../events/index.ts';
import type { BusinessTime } from '../../institutions/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { insertNote, selectBreak, updateOwner } from './break-queries.ts';
import { type BreakWithStory, findBreak } from './read-breaks.ts';

export interface BreakChange {
  /** Null: no one looks after it any more. Undefined: as before. */
  readonly owner?: string | null | undefined;
  /** A line for its story. */
  readonly note?: string | undefined;
}

/** The client or the operator who changes a break. */
export interface BreakAuthor {
  readonly name: string;
  readonly clientId?: string | undefined;
  readonly origin: Origin;
}

/**
 * Gives an open break an owner, or its story a note; a closed one takes notes only. Undefined: there is none. `closed`: a closed
 * break gets no owner; nothing was changed.
 */
export async function changeBreak(
  deps: { readonly database: Database; readonly clock: Clock; readonly businessTime: BusinessTime },
  institutionId: InstitutionId,
  wanted: { readonly breakKey: bigint; readonly change: BreakChange; readonly author: BreakAuthor },
): Promise<BreakWithStory | 'closed' | undefined> {
  const { breakKey, change, author } = wanted;
  const { owner, note } = change;
  const outcome = await deps.database.transaction(institutionId, async (tx) => {
    const before = await selectBreak(tx, breakKey);
    if (before === undefined) return 'unknown';
    const at = deps.businessTime(institutionId, deps.clock());
    const isNewOwner = owner !== undefined && owner !== before.owner;
    if (isNewOwner) {
      if (!(await updateOwner(tx, breakKey, owner))) return 'closed';
      const text = owner === null ? 'The break has no owner any more.' : `The owner is ${owner}.`;
      await insertNote(tx, breakKey, { at, author: author.name, note: text });
    }
    if (note !== undefined) await insertNote(tx, breakKey, { at, author: author.name, note });
    if (isNewOwner || note !== undefined) {
      const entry = {
        action: 'core.break_changed',
        outcome: 'succeeded',
        origin: author.origin,
        clientId: author.clientId,
        subject: String(breakKey),
        // The note of a person is the reason of the act too.
        ...(author.clientId === undefined && { statedReason: author.origin.statedReason ?? note }),
        ...(isNewOwner && whatChanged({ owner: before.owner }, { owner })),
      } as const;
      await appendAudit(tx, entry, deps.clock());
    }
    return 'done';
  });
  if (outcome === 'unknown') return undefined;
  if (outcome === 'closed') return 'closed';
  return findBreak(deps.database, institutionId, breakKey);
}
