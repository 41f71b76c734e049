import { createHash } from 'node:crypto';
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import { DatabaseStartError, type SocketConnection } from '../storage/index.ts';
import { archiveName } from './unpack.ts';

export interface BaseBackup {
  /** Positions of the log: the backup is the state at the end. */
  readonly startLsn: string;
  readonly endLsn: string;
  readonly archive: { readonly bytes: number; readonly sha256: string };
}

/** The result sets of BASE_BACKUP, in their order: start, tablespaces, end. */
type Positions = readonly { readonly rows: readonly { readonly recptr?: string }[] }[];

/** Replication commands have a grammar of their own, with keywords in capitals. */
const baseBackup = `BASE_BACKUP (LABEL 'sharedraft', CHECKPOINT 'fast', WAL, MANIFEST 'yes')`;

/**
 * Copies the running server into `folder`, by the replication protocol, as `pg_basebackup --wal-method=fetch` does; the npm package
 * has no such program. Writers go on. The server verifies the checksum of each page, and fails the backup if one is wrong. The slot
 * keeps the log of the meantime, and ends with the connection.
 */
export async function takeBaseBackup(connection: SocketConnection, folder: string): Promise<BaseBackup> {
  const options = { ...connection, replication: 'true' };
  const client = new pg.Client(options);
  client.on('error', () => {});
  await client.connect();
  const files = new BackupFiles(folder);
  try {
    await client.query(
      `CREATE_REPLICATION_SLOT "sharedraft_backup_${process.pid}" TEMPORARY PHYSICAL (RESERVE_WAL)`,
    );
    const [start, , end] = await new Promise<Positions>((resolve, reject) => {
      client.query(
        new BaseBackupQuery(files, (error, result) =>
          error ? reject(files.failure ?? error) : resolve(result as unknown as Positions),
        ),
      );
    });
    const archive = files.close();
    return { startLsn: positionIn(start), endLsn: positionIn(end), archive };
  } finally {
    files.closeFile();
    await client.end().catch(() => {});
  }
}

function positionIn(result: Positions[number] | undefined): string {
  const position = result?.rows[0]?.recptr;
  if (position === undefined) throw new Error('embedded-postgres: the backup has no position in the log');
  return position;
}

/** A query whose response is a stream. pg calls `handleCopyData` for each message of it. */
class BaseBackupQuery extends pg.Query {
  readonly #files: BackupFiles;

  constructor(files: BackupFiles, done: (error: Error | undefined, result: unknown) => void) {
    super(baseBackup, done);
    this.#files = files;
  }

  handleCopyData(
    { chunk }: { readonly chunk: Buffer },
    { stream }: { readonly stream: { destroy(error: Error): void } },
  ): void {
    try {
      this.#files.take(chunk);
    } catch (error) {
      stream.destroy(error as Error);
    }
  }
}

/**
 * The files of the stream. Each message begins with a letter: a new archive, the manifest, data, or progress. Writes block the
 * process, which is a command's own, and thereby the server's sending.
 */
class BackupFiles {
  readonly #folder: string;
  readonly #expected = [archiveName, 'backup_manifest'];
  readonly #sum = createHash('sha256');
  #file: { readonly descriptor: number; readonly isArchive: boolean } | undefined;
  #bytes = 0;
  /** The first write that failed. */
  failure: Error | undefined;

  constructor(folder: string) {
    this.#folder = folder;
  }

  take(message: Buffer): void {
    try {
      const kind = String.fromCharCode(message[0] ?? 0);
      const content = message.subarray(1);
      if (kind === 'n') this.#open(content.subarray(0, content.indexOf(0)).toString());
      else if (kind === 'm') this.#open('backup_manifest');
      else if (kind === 'd') this.#write(content);
    } catch (error) {
      this.failure ??= error as Error;
      throw error;
    }
  }

  #open(name: string): void {
    // A second archive would be of a tablespace, which the embedded server does not have.
    if (name !== this.#expected.shift())
      throw new DatabaseStartError(`The backup has an unexpected part: ${name}.`);
    this.closeFile();
    const descriptor = openSync(path.join(this.#folder, name), 'wx', 0o600);
    this.#file = { descriptor, isArchive: name === archiveName };
  }

  #write(data: Buffer): void {
    if (this.#file === undefined) throw new DatabaseStartError('The backup begins without a name.');
    for (let written = 0; written < data.length; ) written += writeSync(this.#file.descriptor, data, written);
    if (!this.#file.isArchive) return;
    this.#sum.update(data);
    this.#bytes += data.length;
  }

  close(): BaseBackup['archive'] {
    this.closeFile();
    if (this.#expected.length > 0) throw new DatabaseStartError(`The backup has no ${this.#expected[0]}.`);
    return { bytes: this.#bytes, sha256: this.#sum.digest('hex') };
  }

  /** Returns when the file is on the disk. */
  closeFile(): void {
    if (this.#file === undefined) return;
    const { descriptor } = this.#file;
    this.#file = undefined;
    fsyncSync(descriptor);
    closeSync(descriptor);
  }
}
