import { type Directory, type Queryable, sql } from '../../storage/index.ts';

/** The state of the database server and of this database. */
export interface DatabaseFacts {
  readonly serverVersion: string;
  readonly now: Date;
  readonly isEncrypted: boolean;
  /** Connections of other processes of the service or of commands. */
  readonly serviceConnections: number;
  /** Transactions until the database must be vacuumed to go on, as a share of the whole. */
  readonly transactionAge: number;
  readonly multixactAge: number;
  /** Seconds of the longest transaction of this database that the login may see. */
  readonly longestTransactionSeconds: number;
  readonly preparedTransactions: number;
  readonly invalidIndexes: readonly string[];
  readonly indexes: readonly string[];
  /** Tables with more than ten thousand dead rows and more than a fifth of their rows. */
  readonly bloatedTables: readonly string[];
}

const database = sql(
  'operators_database_facts',
  `select current_setting('server_version') as server_version, clock_timestamp() as now,
          coalesce((select s.ssl from pg_stat_ssl s where s.pid = pg_backend_pid()), false) as is_encrypted,
          (select count(*)::integer from pg_stat_activity a
           where a.datname = current_database() and a.application_name = 'sharedraft' and a.pid <> pg_backend_pid()
          ) as service_connections,
          (select age(d.datfrozenxid)::integer from pg_database d where d.datname = current_database()) as transaction_age,
          (select mxid_age(d.datminmxid)::integer from pg_database d where d.datname = current_database()) as multixact_age,
          (select coalesce(max(extract(epoch from clock_timestamp() - a.xact_start)), 0)::double precision
           from pg_stat_activity a
           where a.datname = current_database() and a.pid <> pg_backend_pid() and a.backend_type = 'client backend'
          ) as longest_transaction_seconds,
          (select count(*)::integer from pg_prepared_xacts x where x.database = current_database()) as prepared_transactions,
          array(select c.relname::text from pg_index i
                join pg_class c on c.oid = i.indexrelid
                where c.relnamespace = 'public'::regnamespace and not (i.indisvalid and i.indisready)
                order by 1) as invalid_indexes,
          array(select c.relname::text from pg_class c
                where c.relnamespace = 'public'::regnamespace and c.relkind in ('i', 'I')) as indexes,
          array(select t.relname::text from pg_stat_user_tables t
                where t.schemaname = 'public' and t.n_dead_tup > 10000 and t.n_dead_tup > 0.2 * t.n_live_tup
                order by t.n_dead_tup desc limit 10) as bloated_tables`,
);

export async function selectDatabaseFacts(db: Directory): Promise<DatabaseFacts> {
  return (await db.query<DatabaseFacts>(database)).rows[0] as DatabaseFacts;
}

/** The space that this database takes. PostgreSQL tells no login how much is left. */
export interface SpaceFacts {
  readonly databaseBytes: number;
  /** With their indexes, as `entries 5 GB`. */
  readonly largestTables: readonly string[];
}

const space = sql(
  'operators_space_facts',
  `select pg_database_size(current_database())::double precision as database_bytes,
          array(select format('%s %s', t.relname, pg_size_pretty(t.bytes))
                from (select c.relname, pg_total_relation_size(c.oid) as bytes from pg_class c
                      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r') t
                order by t.bytes desc, t.relname limit 3) as largest_tables`,
);

export async function selectSpaceFacts(db: Directory): Promise<SpaceFacts> {
  return (await db.query<SpaceFacts>(space)).rows[0] as SpaceFacts;
}

/** Standbys of this server, and whether a commit waits for any. The subscription of a move is no standby. */
export interface ReplicationFacts {
  readonly standbys: number;
  readonly isSynchronous: boolean;
}

const replication = sql(
  'operators_replication_facts',
  `select (select count(*)::integer from pg_stat_replication r
           where not exists (select from pg_replication_slots s
                             where s.active_pid = r.pid and s.slot_type = 'logical')) as standbys,
          current_setting('synchronous_standby_names') <> '' as is_synchronous`,
);

export async function selectReplicationFacts(db: Directory): Promise<ReplicationFacts> {
  return (await db.query<ReplicationFacts>(replication)).rows[0] as ReplicationFacts;
}

/** The newest key that signs now. */
export interface KeyFacts {
  readonly keys: number;
  readonly signsFrom: Date | null;
}

const keys = sql(
  'operators_key_facts',
  'select count(*)::integer as keys, max(signs_from) filter (where signs_from <= $1) as signs_from from signing_keys',
);

export async function selectKeyFacts(db: Directory, now: Date): Promise<KeyFacts> {
  return (await db.query<KeyFacts>(keys, [now])).rows[0] as KeyFacts;
}

/** The state of one institution's connections and checks. */
export interface InstitutionFacts {
  readonly record: string;
  readonly webhooks: number;
  readonly webhooksDisabled: number;
  readonly webhooksFailingSince: Date | null;
  readonly coreHeardAt: Date | null;
  readonly oldestUndeliveredAt: Date | null;
  readonly reconciledAt: Date | null;
  /** The end of the last run that checked every row. */
  readonly fullyReconciledAt: Date | null;
  readonly findings: number | null;
  /** The run with these findings. Null for one of a version that kept none. */
  readonly reconcileRun: bigint | null;
}

const institution = sql(
  'operators_institution_facts',
  `select i.record,
          (select count(*)::integer from webhook_endpoints w where w.institution_id = $1) as webhooks,
          (select count(*)::integer from webhook_endpoints w
           where w.institution_id = $1 and w.status = 'DISABLED') as webhooks_disabled,
          (select min(w.failing_since) from webhook_endpoints w where w.institution_id = $1) as webhooks_failing_since,
          (select c.heard_at from core_connections c where c.institution_id = $1) as core_heard_at,
          (select min(c.issued_at) from core_instructions c
           where c.institution_id = $1 and c.state = 'OPEN' and c.delivered_at is null) as oldest_undelivered_at,
          r.finished_at as reconciled_at, r.full_at as fully_reconciled_at, r.findings, h.run_key as reconcile_run
   from institutions i
   left join reconcile_runs r on r.institution_id = $1
   -- Another time: a version that keeps no findings has run since.
   left join reconcile_results h on h.institution_id = $1 and h.run_key = r.run_key and h.finished_at = r.finished_at
   where i.institution_id = $1`,
);

export async function selectInstitutionFacts(db: Queryable): Promise<InstitutionFacts> {
  return (await db.query<InstitutionFacts>(institution, [db.institutionId])).rows[0] as InstitutionFacts;
}
