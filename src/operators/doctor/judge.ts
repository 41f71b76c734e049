import type { SealedSecrets } from '../secret-key/reseal-secrets.ts';
import type { DatabaseFacts, InstitutionFacts, KeyFacts, ReplicationFacts, SpaceFacts } from './facts.ts';
import { bounded, type Finding, ok, problem, warning } from './finding.ts';

const minute = 60;
const hour = 60 * minute;
const day = 24 * hour;

/** PostgreSQL stops taking writes when about 2^31 transactions are not frozen. */
const mostUnfrozen = 2_100_000_000;

/** `clock` is this machine's time when the facts were read; `expectedIndexes` are those of schema.sql. */
export function judgeDatabase(
  facts: DatabaseFacts,
  { clock, expectedIndexes }: { readonly clock: Date; readonly expectedIndexes: readonly string[] },
): Finding[] {
  return [
    judgeClock(facts.now, clock),
    ok(
      'service',
      facts.serviceConnections === 0
        ? 'No process of the service is connected.'
        : `${facts.serviceConnections} connections of the service.`,
    ),
    judgeIndexes(facts, expectedIndexes),
    facts.bloatedTables.length === 0
      ? ok('dead rows', 'No table has many dead rows.')
      : warning(
          'dead rows',
          `Many dead rows in ${facts.bloatedTables.join(', ')}.`,
          'Look for a long transaction or a forgotten replication slot, then run "vacuum (analyze)" on these tables and check the settings of autovacuum.',
        ),
    judgeAge('transaction ids', facts.transactionAge),
    judgeAge('multixact ids', facts.multixactAge),
    bounded('long transactions', {
      value: facts.longestTransactionSeconds,
      warnFrom: minute,
      problemFrom: hour,
      detail: `The longest transaction has run for ${lengthOf(facts.longestTransactionSeconds)}.`,
      cure: 'Find it in pg_stat_activity (xact_start) and end it with pg_terminate_backend(pid). It holds back the feed of events and vacuum.',
    }),
    facts.preparedTransactions === 0
      ? ok('prepared transactions', 'There is none.')
      : problem(
          'prepared transactions',
          `${facts.preparedTransactions} prepared transactions wait for their end.`,
          'The service makes none. Find them in pg_prepared_xacts and end each with "rollback prepared".',
        ),
  ];
}

function judgeClock(database: Date, clock: Date): Finding {
  const seconds = Math.abs(database.getTime() - clock.getTime()) / 1_000;
  return bounded('clock', {
    value: seconds,
    warnFrom: 2,
    problemFrom: minute,
    detail: `This machine and the database differ by ${seconds.toFixed(1)} s.`,
    cure: 'Synchronize both by NTP. Processes may differ by five minutes at most, and settle nothing while an account is a minute ahead.',
  });
}

function judgeIndexes({ invalidIndexes, indexes }: DatabaseFacts, expected: readonly string[]): Finding {
  if (invalidIndexes.length > 0) {
    return problem(
      'indexes',
      `Invalid: ${invalidIndexes.join(', ')}.`,
      invalidIndexes.map((name) => `reindex index concurrently ${name};`).join(' '),
    );
  }
  const missing = expected.filter((name) => !indexes.includes(name));
  return missing.length === 0
    ? ok('indexes', `${expected.length} indexes, all valid.`)
    : problem(
        'indexes',
        `Missing: ${missing.join(', ')}.`,
        'Create them with the statements of schema.sql, "concurrently".',
      );
}

function judgeAge(check: string, age: number): Finding {
  return bounded(check, {
    value: age,
    warnFrom: 500_000_000,
    problemFrom: 1_500_000_000,
    detail: `${Math.round((age / mostUnfrozen) * 100)} % of the way to the limit.`,
    cure: 'Autovacuum does not keep up: end long transactions, drop forgotten replication slots, then run "vacuum (freeze)" as the owner of the database.',
  });
}

export function judgeReplication({ standbys, isSynchronous }: ReplicationFacts): Finding {
  const check = 'standbys';
  if (isSynchronous) return ok(check, `Commits wait for a standby; ${standbys} are connected.`);
  return standbys === 0
    ? ok(check, 'None is connected, and no commit waits for one.')
    : warning(
        check,
        `${standbys} are connected, and no commit waits for one: a fail-over would lose the last acknowledged transfers. A move of an institution waits until each of them has its end.`,
        'Make one synchronous: docs/failover.md. It also tells how readers learn of a loss.',
      );
}

export function judgeKey({ keys, signsFrom }: KeyFacts, now: Date, rotationDays: number): Finding {
  if (keys === 0) return ok('signing key', 'None yet: the first start makes one.');
  if (signsFrom === null) {
    return problem('signing key', 'Every key begins in the future.', 'Correct the clock of this machine.');
  }
  const days = (now.getTime() - signsFrom.getTime()) / 1_000 / day;
  const detail = `The key has signed for ${Math.floor(days)} days; the next takes over after ${rotationDays}.`;
  const cure = 'A running service rotates it. Start the service, or run "sharedraft keys rotate".';
  return days > rotationDays + 1 ? warning('signing key', detail, cure) : ok('signing key', detail);
}

/** A second key that only opens, while SECRET_KEY is changed. */
export function judgeOtherKey({ keys, lost, codesUntil }: SealedSecrets): Finding {
  const check = 'SECRET_KEY_OTHER';
  if (lost > 0)
    return warning(
      check,
      `${lost} webhook keys are under a key that neither it nor SECRET_KEY is.`,
      'Rotate the keys of the webhooks that fail: "sharedraft webhook rotate".',
    );
  if (keys > 0) return warning(check, `${keys} keys are sealed under it.`, 'Run "sharedraft keys reseal".');
  return codesUntil === undefined
    ? ok(check, 'Nothing is sealed under it. Unless it is the next key, remove it from the settings.')
    : ok(check, `Needed until ${codesUntil.toISOString()}, when the last one-time code under it ends.`);
}

/** Figures of all institutions together. */
export interface WorkFacts {
  readonly overdue: number;
  readonly stopped: number;
  readonly feedLagSeconds: number;
  readonly eventKeysAhead: bigint;
  readonly eventDefaultBytes: bigint;
}

/** The maintenance keeps two partitions ahead, of a million events each or more. */
const fewestKeysAhead = 1_000_000n;

export function judgeWork({ overdue, stopped, feedLagSeconds, ...partitions }: WorkFacts): Finding[] {
  return [
    overdue === 0
      ? ok('due transfers', 'None is overdue.')
      : problem(
          'due transfers',
          `${overdue} transfers are overdue by more than a minute.`,
          'The running service posts them. Start it, and look in its log for "sweep".',
        ),
    stopped === 0
      ? ok('stopped transfers', 'None waits for an operator because its member is locked.')
      : warning(
          'stopped transfers',
          `${stopped} due transfers are of members who are locked.`,
          'Decide them: "sharedraft transfer pending", then approve or decline.',
        ),
    bounded('feed of events', {
      value: feedLagSeconds,
      warnFrom: minute,
      problemFrom: 10 * minute,
      detail: `The newest visible event is ${lengthOf(feedLagSeconds)} behind.`,
      cure: 'A running transaction holds the feed back. Find it in pg_stat_activity (xact_start) and end it.',
    }),
    judgePartitions(partitions),
  ];
}

function judgePartitions({
  eventKeysAhead,
  eventDefaultBytes,
}: Pick<WorkFacts, 'eventKeysAhead' | 'eventDefaultBytes'>): Finding {
  const check = 'partitions of events';
  const detail = `Partitions for ${eventKeysAhead} more events are made.`;
  if (eventKeysAhead < fewestKeysAhead)
    return warning(
      check,
      detail,
      'The running service makes them each minute. Start it, or look in its log for "event_partitions".',
    );
  return eventDefaultBytes > 0n
    ? warning(
        check,
        `${detail} The default partition has events: at some time none was ahead.`,
        'No event is lost, and reads find them. docs/operations.md, "Partitions of events", has the way to empty it.',
      )
    : ok(check, detail);
}

export function judgeInstitution(code: string, facts: InstitutionFacts, now: Date): Finding[] {
  return [judgeReconcile(code, facts, now), ...judgeWebhooks(code, facts), ...judgeCore(code, facts, now)];
}

function judgeReconcile(
  code: string,
  { reconciledAt, fullyReconciledAt, findings }: InstitutionFacts,
  now: Date,
): Finding {
  const check = `reconcile ${code}`;
  const cure = `Run "sharedraft reconcile --institution ${code}" every night.`;
  if (reconciledAt === null) return warning(check, 'It never ran.', cure);
  if (findings !== null && findings > 0) {
    return problem(
      check,
      `The last run found ${findings} rows that are off.`,
      `Run "sharedraft reconcile findings --institution ${code}", and follow docs/reconcile.md.`,
    );
  }
  const seconds = (now.getTime() - reconciledAt.getTime()) / 1_000;
  const detail = `Everything agreed ${lengthOf(seconds)} ago.`;
  if (seconds > 7 * day) return warning(check, detail, cure);
  const isFullOld =
    fullyReconciledAt !== null && now.getTime() - fullyReconciledAt.getTime() > 35 * day * 1_000;
  return isFullOld
    ? warning(
        check,
        'Only changes were checked for five weeks.',
        `Run "sharedraft reconcile --institution ${code}" without --changes.`,
      )
    : ok(check, detail);
}

function judgeWebhooks(code: string, facts: InstitutionFacts): Finding[] {
  const check = `webhooks ${code}`;
  const { webhooks, webhooksDisabled, webhooksFailingSince } = facts;
  const cure = `Look at "sharedraft webhook list --institution ${code}"; after the receiver works, "sharedraft webhook enable".`;
  if (webhooks === 0) return [];
  if (webhooksDisabled > 0) return [problem(check, `${webhooksDisabled} of ${webhooks} are disabled.`, cure)];
  if (webhooksFailingSince !== null)
    return [warning(check, `One has failed since ${webhooksFailingSince.toISOString()}.`, cure)];
  return [ok(check, `${webhooks} deliver.`)];
}

function judgeCore(code: string, facts: InstitutionFacts, now: Date): Finding[] {
  if (facts.record !== 'core') return [];
  const check = `core ${code}`;
  const cure = `Look at "sharedraft core status --institution ${code}" and at the connector.`;
  const { coreHeardAt, oldestUndeliveredAt } = facts;
  if (coreHeardAt === null) return [warning(check, 'The core has never asked.', cure)];
  const seconds = (now.getTime() - coreHeardAt.getTime()) / 1_000;
  const waits =
    oldestUndeliveredAt === null
      ? ''
      : ` An instruction has waited since ${oldestUndeliveredAt.toISOString()}.`;
  return [
    bounded(check, {
      value: seconds,
      warnFrom: 5 * minute,
      problemFrom: oldestUndeliveredAt === null ? Number.POSITIVE_INFINITY : 15 * minute,
      detail: `The core asked ${lengthOf(seconds)} ago.${waits}`,
      cure,
    }),
  ];
}

export function judgeDisk(
  folder: string,
  { freeBytes, bytes }: { readonly freeBytes: number; readonly bytes: number },
): Finding {
  const percent = Math.floor((freeBytes / bytes) * 100);
  const detail = `${percent} % free (${Math.floor(freeBytes / 1_000_000)} MB) at ${folder}.`;
  const cure = 'Make room or enlarge the volume. With a full disk writes are refused, and nothing is lost.';
  const gigabyte = 1_000_000_000;
  if (freeBytes < 0.2 * gigabyte) return problem('disk', detail, cure);
  return freeBytes < 2 * gigabyte || percent < 10 ? warning('disk', detail, cure) : ok('disk', detail);
}

/** The disk of a server that only SQL reaches: its size is known, its free space is not. */
export function judgeUnseenDisk({ databaseBytes, largestTables }: SpaceFacts): Finding {
  const size = Math.ceil(databaseBytes / 1_000_000).toLocaleString('en-US');
  return ok(
    'disk',
    `Not examined: PostgreSQL does not tell the free space of its server, so watch it there. This database takes ${size} MB; the largest tables: ${largestTables.join(', ')}.`,
  );
}

function lengthOf(seconds: number): string {
  if (seconds < 2 * minute) return `${Math.round(seconds)} s`;
  if (seconds < 2 * hour) return `${Math.round(seconds / minute)} minutes`;
  return seconds < 2 * day ? `${Math.round(seconds / hour)} hours` : `${Math.round(seconds / day)} days`;
}
