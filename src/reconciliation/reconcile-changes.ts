import { type Database, type InstitutionId, type Queryable, systemClock } from '../storage/index.ts';
import { maxAheadMillis } from '../transfers/index.ts';
import { askChecks, askChecksOn } from './ask-checks.ts';
import {
  type ChangedAccount,
  type Checkpoint,
  selectAccountsOfKeys,
  selectChangedAccounts,
  selectEventsSince,
  selectNewEntries,
  selectPosition,
} from './checkpoint-queries.ts';
import { type ReconcileOptions, usuallyAtOnce, walkCounters } from './reconcile.ts';
import { oneSidedPostings, untoldEntries } from './told-entries.ts';
import { selectToldInEvents } from './transfer-checks.ts';

/** A changed account with the entries that events behind the checkpoint tell of. */
interface Changed extends ChangedAccount {
  firstTold: bigint | null;
  told: bigint;
  sum: bigint;
}

type Run = ReconcileOptions & { readonly at: Date; readonly atOnce: number };

/**
 * The checks of `reconcile` on the accounts, transfers, events and counters that changed since a checkpoint. Everything else
 * was in order then, and the database lets no one change it. Returns the next checkpoint, which holds if nothing is off.
 */
export async function reconcileChanges(
  database: Pick<Database, 'read'>,
  institutionId: InstitutionId,
  checkpoint: Checkpoint,
  options: ReconcileOptions,
): Promise<Checkpoint> {
  const at = options.at ?? systemClock();
  const run = { ...options, at, atOnce: options.atOnce ?? usuallyAtOnce };
  return database.read(institutionId, async (db) => {
    const next = { at, ...(await selectPosition(db)) };
    await askChecks(db, 'whole', [institutionId], run);
    const accounts = await accountsSince(db, checkpoint, run);
    await walkEvents(db, checkpoint, accounts, run);
    await walkAccounts(db, checkpoint, accounts, run);
    await walkCounters(db, { ...run, since: checkpoint.at });
    return next;
  });
}

/** By their newest entry. Before the events: an account then has an event for each entry that is expected of it. */
async function accountsSince(db: Queryable, checkpoint: Checkpoint, run: Run): Promise<Map<bigint, Changed>> {
  const accounts = new Map<bigint, Changed>();
  // The clocks of processes differ a little.
  const since = new Date(checkpoint.at.getTime() - maxAheadMillis);
  for (let after = 0n; ; ) {
    const page = await selectChangedAccounts(db, { after, since, most: run.atOnce });
    for (const account of page) accounts.set(account.accountKey, untold(account));
    const last = page.at(-1);
    if (last === undefined || page.length < run.atOnce) return accounts;
    after = last.accountKey;
  }
}

function untold(account: ChangedAccount): Changed {
  return { ...account, firstTold: null, told: 0n, sum: 0n };
}

/** The events behind the checkpoint with their transfers. An account that they name has changed, whatever its clock says. */
async function walkEvents(
  db: Queryable,
  { epoch, xid: first }: Checkpoint,
  accounts: Map<bigint, Changed>,
  run: Run,
): Promise<void> {
  let position = { epoch, xid: first, eventKey: 0n };
  for (let done = 0; ; ) {
    const events = await selectEventsSince(db, position, run.atOnce);
    const last = events.at(-1);
    if (last === undefined) return;
    const keys = events.map(({ eventKey }) => eventKey);
    await askChecksOn(db, 'events', { keys }, run);
    const transferKeys = [...new Set(events.flatMap(({ transferKey }) => transferKey ?? []))];
    await askChecksOn(db, 'transfers', { keys: transferKeys }, run);

    const told = await selectToldInEvents(db, { keys });
    const strange = new Set(told.map(({ accountKey }) => accountKey).filter((key) => !accounts.has(key)));
    for (const account of await selectAccountsOfKeys(db, [...strange])) {
      accounts.set(account.accountKey, untold(account));
    }
    for (const { accountKey, seq } of told) {
      const account = accounts.get(accountKey);
      if (account === undefined || seq > account.seq) continue;
      if (account.firstTold === null || seq < account.firstTold) account.firstTold = seq;
      account.told += 1n;
      account.sum += seq;
    }
    done += events.length;
    run.onProgress?.('events', done);
    position = { epoch, xid: last.xid, eventKey: last.eventKey };
  }
}

async function walkAccounts(
  db: Queryable,
  checkpoint: Checkpoint,
  accounts: ReadonlyMap<bigint, Changed>,
  run: Run,
): Promise<void> {
  const since = new Date(checkpoint.at.getTime() + maxAheadMillis);
  let weight = 0n;
  let done = 0;
  for (const chunk of chunksOf([...accounts.values()], run.atOnce)) {
    const keys = chunk.map(({ accountKey }) => accountKey);
    await askChecksOn(db, 'accounts', { keys }, run);
    for (const entries of await selectNewEntries(db, chunk, since)) {
      weight += entries.weight;
      const account = accounts.get(entries.accountKey);
      if (account === undefined || (account.told === entries.entries && account.sum === entries.sum))
        continue;
      for (const finding of await untoldEntries(db, account.accountKey, account)) run.onFinding(finding);
    }
    done += chunk.length;
    run.onProgress?.('accounts', done);
  }
  if (weight !== 0n) for (const finding of await oneSidedPostings(db)) run.onFinding(finding);
}

/** Chunks of about as many entries. */
function* chunksOf(accounts: readonly Changed[], atOnce: number): Iterable<Changed[]> {
  let chunk: Changed[] = [];
  let entries = 0;
  for (const account of accounts) {
    if (chunk.length > 0 && entries + Number(account.seq) > atOnce) {
      yield chunk;
      chunk = [];
      entries = 0;
    }
    chunk.push(account);
    entries += 1 + Number(account.seq);
  }
  if (chunk.length > 0) yield chunk;
}
