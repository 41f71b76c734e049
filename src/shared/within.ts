import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the work ended within the time, with a result or an error. Work that takes longer goes on. */
export async function within(millis: number, work: Promise<unknown>): Promise<boolean> {
  const timeout = new AbortController();
  const ended = work.then(
    () => true,
    () => true,
  );
  try {
    return await Promise.race([ended, sleep(millis, false, { signal: timeout.signal })]);
  } finally {
    timeout.abort();
  }
}
