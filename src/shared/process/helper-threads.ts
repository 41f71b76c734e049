import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

/** Threads beside the one that serves requests, by the names that Node gives them. */
const helpers = {
  /** Garbage collection and compilation. */
  v8: 'node-V8Worker',
  /** Password hashing. */
  libuv: 'libuv-worker',
};
const lower = os.constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * Lowers the priority of the helper threads that have started, to half of the range: on a machine that is busy for long, their
 * work must still come to an end. Only Linux has a priority for each thread. Elsewhere nothing changes.
 */
export function giveWay(which: keyof typeof helpers): void {
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      const id = Number(thread);
      if (name === helpers[which] && os.getPriority(id) < lower) os.setPriority(id, lower);
    } catch {
      // The thread has ended, or its priority may not be changed. Other callers then wait longer, which is no error.
    }
  }
}
