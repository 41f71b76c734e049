import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const busy = 5;

/**
 * Runs `work` while no other process on this machine runs work under the same file. The lock is the kernel's lock of that
 * file, taken through SQLite since Node itself has none: it ends with the process, however that ends, and no other user can
 * take it, since the file is for its owner alone (ADR 5).
 */
export async function withProcessLock<T>(
  file: string,
  patienceMillis: number,
  work: () => Promise<T>,
): Promise<T> {
  await (await open(file, 'a', 0o600)).close();
  const deadline = Date.now() + patienceMillis;
  for (;;) {
    const lock = tryLock(file);
    if (lock !== undefined) {
      try {
        return await work();
      } finally {
        lock.close();
      }
    }
    if (Date.now() > deadline) throw new Error('another process is still at it');
    await sleep(25);
  }
}

function tryLock(file: string): DatabaseSync | undefined {
  const lock = new DatabaseSync(file);
  try {
    lock.exec('begin exclusive');
    return lock;
  } catch (error) {
    lock.close();
    if ((error as { errcode?: number }).errcode === busy) return undefined;
    throw error;
  }
}
