/**
 * The only place that knows pg. Owns connections, transactions, migrations and the embedded PostgreSQL.
 *
 * Invariants: every connection of the service has a login bound by row-level security, and durable commits; a 503
 * out of here means that nothing was or will be written, but where a single write says otherwise; and nothing is run again
 * but a batch, which is idempotent by its ids.
 */

export {
  type BatchRead,
  byPlace,
  type Placed,
} from './batch-loader.ts';
export { type Clock, systemClock } from './clock.ts';
export { CommitWatch, waitsForStandbys } from './commit-watch.ts';
export { Connection } from './connection.ts';
export { Database, type OwnConnection, type Session } from './database.ts';
export { embeddedLogin } from './database-roles.ts';
export { DatabaseStartError } from './database-start-error.ts';
export {
  databaseUnavailable,
  isUniqueViolation,
  outcomeUnknown,
  sqlState,
  sqlStateOf,
} from './errors.ts';
export { letOwnerServe, migrate } from './migrate.ts';
export { NestedUseError, refuseNestedUse } from './nested-use.ts';
export { type Cell, columnsOf, inserting, insertOf, jsonOf, rowsIn, rowsOf } from './rows.ts';
export { mayCreateLargeObjects, refuseOtherSettings, refuseUnfitLogin } from './service-login.ts';
export type { SocketConnection } from './socket-connection.ts';
export {
  counted,
  type Directory,
  declaredStatements,
  type InstitutionId,
  type Queryable,
  type Statement,
  sql,
  type Transaction,
  type Write,
} from './statement.ts';
export { refuseTransactionPooling } from './transaction-pooling.ts';
export { refuseUnverifiedUrl } from './verified-tls.ts';
