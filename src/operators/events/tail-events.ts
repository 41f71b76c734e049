import { setTimeout as sleep } from 'node:timers/promises';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import { type FeedEvent, firstNumberOf, readEvents } from '../../feed/index.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { selectEndOfFeed } from '../../webhooks/index.ts';

const atOnce = 200;
const shownAtStart = 10n;
const pauseMillis = 1_000;

export interface Tail {
  /** The sequence of the first event; undefined: the last ten. */
  readonly from?: bigint | undefined;
  /** Waits for further events until the reader stops. */
  readonly follow: boolean;
  readonly origin: CommandOrigin;
}

/**
 * The events of an institution in the order of its feed. Events have contact data of members, so the audit records the read. Problem
 * `invalid_request` for a sequence that does not exist yet.
 */
export async function* tailEvents(
  { database, clock }: { readonly database: Database; readonly clock: Clock },
  institutionId: InstitutionId,
  { from, follow, origin }: Tail,
): AsyncGenerator<FeedEvent> {
  const first = from ?? (await nearEnd(database, institutionId));
  const entry = { action: 'events.read', outcome: 'succeeded', origin, after: { from: first } } as const;
  await database.transaction(institutionId, (tx) => appendAudit(tx, entry, clock()));
  let page = await readEvents(database, institutionId, { from: first, limit: atOnce });
  for (;;) {
    yield* page.items;
    if (page.items.length < atOnce) {
      if (!follow) return;
      await sleep(pauseMillis);
    }
    page = await readEvents(database, institutionId, { after: page.next, limit: atOnce });
  }
}

async function nearEnd(database: Database, institutionId: InstitutionId): Promise<bigint> {
  const [{ number }, first] = await database.read(institutionId, (db) =>
    Promise.all([selectEndOfFeed(db), firstNumberOf(db)]),
  );
  const near = number - shownAtStart + 1n;
  return near > first ? near : first;
}
