import { setTimeout as sleep } from 'node:timers/promises';
import { withWritableHost } from '../shared/text/database-urls.ts';
import type { InstitutionId } from '../storage/index.ts';
import { inTransaction, run, type Side } from './side.ts';
import { type MovedTable, thatMove } from './tables.ts';

/*
 * Logical replication of one institution: a publication with a row filter and a slot at the source, a subscription at the target. Their
 * names are those of the move, and the publication has its cell as a comment; nothing else stores how far it is.
 */

const lookMillis = 50;

export interface Channel {
  readonly publication: string;
  /** Slots belong to the cluster, so its name has the number of the database. The subscription has the same name. */
  readonly slot: string;
}

export async function channelOf(source: Side, institutionId: InstitutionId): Promise<Channel> {
  const [row] = await run<{ database: string }>(
    source.db,
    'select oid::text as database from pg_database where datname = current_database()',
  );
  return {
    publication: `sharedraft_move_${institutionId}`,
    slot: `sharedraft_move_${row?.database}_${institutionId}`,
  };
}

/** Idempotent. */
export async function publish(
  { db }: Side,
  { publication, slot }: Channel,
  {
    institutionId,
    tables,
    to,
  }: { readonly institutionId: InstitutionId; readonly tables: readonly MovedTable[]; readonly to: string },
): Promise<void> {
  if ((await run(db, 'select from pg_publication where pubname = $1', [publication])).length === 0) {
    const filtered = thatMove(tables, 'replicated').map(
      ({ name }) => `public."${name}" where (institution_id = ${institutionId})`,
    );
    const [cell] = await run<{ text: string }>(db, 'select quote_literal($1::text) as text', [to]);
    await inTransaction(db, async () => {
      await run(
        db,
        // A partition has its rows published as those of its table, whose filter holds.
        `create publication ${publication} for table ${filtered.join(', ')} with (publish_via_partition_root = true)`,
      );
      await run(db, `comment on publication ${publication} is ${cell?.text}`);
    });
  }
  if ((await run(db, 'select from pg_replication_slots where slot_name = $1', [slot])).length === 0)
    await run(
      db,
      // Standbys may keep a copy of it, so that it outlives a fail-over (docs/cells.md).
      `select from pg_create_logical_replication_slot($1, 'pgoutput'${(await versionOf({ db })) >= failoverVersion ? ', failover => true' : ''})`,
      [slot],
    );
}

/** The cell to which the institution is published. Undefined if it is not. */
export async function destinationOf({ db }: Side, { publication }: Channel): Promise<string | undefined> {
  const [row] = await run<{ cell: string | null }>(
    db,
    `select obj_description(oid, 'pg_publication') as cell from pg_publication where pubname = $1`,
    [publication],
  );
  return row?.cell ?? undefined;
}

/** Idempotent. The subscription reads as its owner, since the tables' owner may be bound by row-level security. */
export async function subscribe({ db }: Side, source: Side, { publication, slot }: Channel): Promise<void> {
  if (await isSubscribed({ db }, slot)) return;
  const version = await versionOf({ db });
  const areBothNew = Math.min(version, await versionOf(source)) >= failoverVersion;
  const options = [
    'create_slot = false',
    `slot_name = '${slot}'`,
    'copy_data = true',
    ...(version >= runAsOwnerVersion ? ['run_as_owner = true'] : []),
    ...(areBothNew ? ['failover = true'] : []),
  ];
  // The subscription finds the primary again after a fail-over of the source.
  const [address] = await run<{ text: string }>(db, 'select quote_literal($1::text) as text', [
    withWritableHost(source.url),
  ]);
  await run(
    db,
    `create subscription ${slot} connection ${address?.text} publication ${publication} with (${options.join(', ')})`,
  );
}

/** Major versions of PostgreSQL from which subscriptions read as their owner, and slots outlive a fail-over. */
const runAsOwnerVersion = 16;
const failoverVersion = 17;

async function versionOf({ db }: Pick<Side, 'db'>): Promise<number> {
  const [row] = await run<{ version: number }>(
    db,
    `select current_setting('server_version_num')::integer / 10000 as version`,
  );
  return row?.version ?? 0;
}

/** False: the target follows a slot that the source has no more, after a fail-over of the source for instance. Changes may be missing then. */
export async function isChannelWhole(source: Side, target: Side, { slot }: Channel): Promise<boolean> {
  if (!(await isSubscribed(target, slot))) return true;
  const found = await run(
    source.db,
    `select from pg_replication_slots where slot_name = $1 and wal_status is distinct from 'lost'`,
    [slot],
  );
  return found.length > 0;
}

async function isSubscribed({ db }: Pick<Side, 'db'>, slot: string): Promise<boolean> {
  const found = await run(
    db,
    `select from pg_subscription s join pg_database d on d.oid = s.subdbid
     where s.subname = $1 and d.datname = current_database()`,
    [slot],
  );
  return found.length > 0;
}

/** Waits until every table is copied. Throws an Error if the subscription stops on an error that the target's log has, or lost its slot. */
export async function waitForCopies(
  source: Side,
  target: Side,
  {
    channel,
    onProgress,
  }: { readonly channel: Channel; readonly onProgress: (copied: number, of: number) => void },
): Promise<void> {
  const { db } = target;
  for (;;) {
    // A subscription without its slot waits for ever, and counts no error.
    if (!(await isChannelWhole(source, target, channel)))
      throw new Error('The replication has lost its slot at the source. Undo the move, and begin it anew.');
    const [state] = await run<{ copied: number; all: number; enabled: boolean; errors: number }>(
      db,
      `select count(*) filter (where r.srsubstate in ('r', 's'))::integer as copied, count(*)::integer as all,
              bool_and(s.subenabled) as enabled,
              max(t.apply_error_count + t.sync_error_count)::integer as errors
       from pg_subscription s join pg_subscription_rel r on r.srsubid = s.oid
       join pg_stat_subscription_stats t on t.subid = s.oid where s.subname = $1`,
      [channel.slot],
    );
    if (state?.enabled !== true || state.errors > mostErrors)
      throw new Error("The copy does not get on. The other cell's PostgreSQL has the reason in its log.");
    onProgress(state.copied, state.all);
    if (state.copied === state.all) return;
    await sleep(lookMillis);
  }
}

/** A lock or a restart may interrupt the copy of a table, which is then repeated. */
const mostErrors = 20;

/** Waits until the target has applied what the source has committed so far. False if that takes longer. */
export async function waitForApplied(source: Side, slot: string, patienceMillis: number): Promise<boolean> {
  const [now] = await run<{ position: string }>(
    source.db,
    'select pg_current_wal_insert_lsn()::text as position',
  );
  for (const deadline = performance.now() + patienceMillis; ; ) {
    const [row] = await run<{ applied: boolean }>(
      source.db,
      `select replay_lsn >= $2::pg_lsn as applied from pg_stat_replication r
       join pg_replication_slots s on s.active_pid = r.pid where s.slot_name = $1`,
      [slot, now?.position],
    );
    if (row?.applied === true) return true;
    if (performance.now() > deadline) return false;
    await sleep(lookMillis / 5);
  }
}

/**
 * Waits until every standby has on its disk what this server has committed so far. Returns the names of those that have not in time. None
 * if commits wait for a standby by themselves.
 */
export async function standbysBehind({ db }: Side, patienceMillis: number): Promise<readonly string[]> {
  const [now] = await run<{ position: string }>(db, 'select pg_current_wal_flush_lsn()::text as position');
  for (const deadline = performance.now() + patienceMillis; ; ) {
    // A receiver that only archives the log reports no position.
    const behind = await run<{ standby: string }>(
      db,
      `select r.application_name as standby from pg_stat_replication r
       where current_setting('synchronous_standby_names') = '' and r.flush_lsn < $1::pg_lsn
         and not exists (select from pg_replication_slots s where s.active_pid = r.pid and s.slot_type = 'logical')
       order by 1`,
      [now?.position],
    );
    if (behind.length === 0 || performance.now() > deadline) return behind.map(({ standby }) => standby);
    await sleep(lookMillis / 5);
  }
}

/** Ends the subscription and its slots at the source. Idempotent, also after an end that was interrupted between both servers. */
export async function unsubscribe({ db }: Side, source: Side, slot: string): Promise<void> {
  const [found] = await run<{ id: string }>(
    db,
    `select s.oid::text as id from pg_subscription s join pg_database d on d.oid = s.subdbid
     where s.subname = $1 and d.datname = current_database()`,
    [slot],
  );
  if (found === undefined) return;
  await run(db, `alter subscription ${slot} disable`);
  await run(db, `drop subscription ${slot}`).catch(async () => {
    await run(db, `alter subscription ${slot} set (slot_name = none)`);
    await run(db, `drop subscription ${slot}`);
    await dropSlots(source, `slot_name like 'pg\\_${found.id}\\_sync\\_%'`);
  });
}

/** The sender of a slot ends a moment after its receiver. */
async function dropSlots({ db }: Side, condition: string): Promise<void> {
  for (const deadline = performance.now() + 10_000; ; ) {
    try {
      await run(
        db,
        `select pg_drop_replication_slot(slot_name) from pg_replication_slots where ${condition}`,
      );
      return;
    } catch (error) {
      if (performance.now() > deadline) throw error;
      await sleep(lookMillis);
    }
  }
}

/** Idempotent. */
export async function unpublish(source: Side, { publication, slot }: Channel): Promise<void> {
  await run(source.db, `drop publication if exists ${publication}`);
  await dropSlots(source, `slot_name = '${slot}'`);
}
