import { open } from 'node:fs/promises';
import { DatabaseSync } from 'node:sqlite';
import { setTimeout as sleep } from 'node:timers/promises';

const busy = 5;

/**
 * Runs `work` under an exclusive lock of a file on this machine. It is a kernel lock, taken through SQLite because Node has no
 * API for one. It ends with the process in every case. The file is private, so no other user can take the lock (ADR 5).
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
