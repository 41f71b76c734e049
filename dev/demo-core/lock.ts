import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const busy = 5;
/** A core whose service was killed ends within this time. */
const patienceMillis = 10_000;

/** The folder belongs to another process. */
class FolderInUseError extends Error {}

/**
 * Locks the folder for this process. It is a kernel lock, through SQLite because Node has no function for one, so it ends with the
 * process in every case. Throws FolderInUseError.
 */
export async function lockFolder(folder: string): Promise<{ release(): void }> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  for (const deadline = Date.now() + patienceMillis; ; await sleep(50)) {
    const lock = new DatabaseSync(path.join(folder, 'lock'));
    try {
      lock.exec('begin exclusive');
      return { release: () => lock.close() };
    } catch (error) {
      lock.close();
      if ((error as { errcode?: number }).errcode !== busy) throw error;
      if (Date.now() > deadline) throw new FolderInUseError(`Another core runs on ${folder}.`);
    }
  }
}
