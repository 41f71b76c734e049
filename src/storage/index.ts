/**
 * The only place that knows pg. Owns connections, transactions, migrations and the embedded PostgreSQL.
 *
 * Invariants: every connection of the service has a login bound by row-level security, and durable commits; a 503
 * from here means that nothing was or will be written, except for writes that document another rule; only a batch runs
 * again, and its ids make it idempotent.
 */

export { type Clock, systemClock } from './clock.ts';
export { CommitWatch, waitsForStandbys } from './commit-watch.ts';
export { Connection } from './connection.ts';
export { Database, type OwnConnection, type Session } from './database.ts';
export {
  asLockedOut,
  databaseUnavailable,
  institutionElsewhere,
  institutionMoving,
  institutionOf,
  isExclusionViolation,
  isUniqueViolation,
  outcomeUnknown,
  sqlState,
  sqlStateOf,
} from './errors.ts';
export { DatabaseStartError } from './hosts/database-start-error.ts';
export { withPasswordFile } from './hosts/password-file.ts';
export type { SocketConnection } from './hosts/socket-connection.ts';
export { embeddedLogin } from './migration/database-roles.ts';
export { letOwnerServe, migrate, newestMigration, unappliedMigrations } from './migration/migrate.ts';
export { NestedUseError, refuseNestedUse } from './nested-use.ts';
export { type Cell, columnsOf, inserting, insertOf, jsonOf, rowsIn, rowsOf } from './rows.ts';
export {
  mayCreateLargeObjects,
  refuseOtherSettings,
  refuseUnfitLogin,
} from './start-checks/service-login.ts';
export { refuseTransactionPooling } from './start-checks/transaction-pooling.ts';
export { refuseUnverifiedUrl } from './start-checks/verified-tls.ts';
export {
  counted,
  type Directory,
  declaredStatements,
  type InstitutionId,
  type Queryable,
  type Reads,
  type Statement,
  sql,
  type Transaction,
  type Write,
} from './statement.ts';
