import { appendEvents, type NewEvent } from '../../events/index.ts';
import type { Transaction } from '../../storage/index.ts';
import type { ChangedBreak, EndedBreak, FoundBreak } from './break.ts';
import { type BreakRow, closeBreaks, insertBreaks, updateBreaks } from './break-queries.ts';

/** Opens, changes and closes breaks, with their stories and events. Returns the numbers. */
export async function writeBreaks(
  tx: Transaction,
  {
    found = [],
    changed = [],
    ended = [],
  }: {
    readonly found?: readonly FoundBreak[];
    readonly changed?: readonly ChangedBreak[];
    readonly ended?: readonly EndedBreak[];
  },
  { at, author = null }: { readonly at: Date; readonly author?: string | null },
): Promise<{ readonly opened: number; readonly changed: number; readonly closed: number }> {
  // An end first: the thing may differ again.
  const closed = await closeBreaks(tx, ended, { at, author });
  await updateBreaks(tx, changed, at);
  const opened = await insertBreaks(tx, found, at);
  const events = [...closed.map(breakClosed), ...opened.map((row) => eventOf('core.break_opened', row))];
  await appendEvents(tx, events, at);
  return { opened: opened.length, changed: changed.length, closed: closed.length };
}

export function breakClosed(row: BreakRow): NewEvent {
  return eventOf('core.break_closed', row);
}

function eventOf(kind: string, { breakKey, class: breakClass, accountId }: BreakRow): NewEvent {
  return {
    kind,
    subjectKey: breakKey,
    data: { breakId: String(breakKey), class: breakClass, accountId },
  };
}
