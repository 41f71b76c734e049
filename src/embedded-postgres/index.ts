/**
 * Runs the PostgreSQL that comes from npm packages: for demos, tests and pilots on one machine. A production database needs
 * none of this.
 *
 * Invariants: one process at a time owns a data folder, by a lock of the kernel; the server runs as a user without rights over
 * the service's files; root opens, reads and signals nothing that this user names.
 */
export { type BaseBackup, takeBaseBackup } from './base-backup.ts';
export {
  borrowEmbeddedPostgres,
  type EmbeddedPostgres,
  ownEmbeddedPostgres,
  restoreEmbeddedPostgres,
} from './embedded-postgres.ts';
export { archiveName } from './unpack.ts';
