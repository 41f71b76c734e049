import { setTimeout as sleep } from 'node:timers/promises';

/** Whether the work ended, well or not, within the time. It is not ended by this. */
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
