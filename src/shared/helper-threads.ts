import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

/** Threads that work beside the one that serves, by the names that Node gives them. */
const helpers = {
  /** They look for garbage and compile. */
  v8: 'node-V8Worker',
  /** They hash passwords. */
  libuv: 'libuv-worker',
};
const lower = os.constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * These helpers, as far as they were started, give way to the thread that serves. By half of what there is to give: on a
 * machine that is busy for long, what they do must still come to an end. On Linux a priority is each thread's own;
 * elsewhere it would be the whole process's, and they stay as they are.
 */
export function giveWay(which: keyof typeof helpers): void {
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      const id = Number(thread);
      if (name === helpers[which] && os.getPriority(id) < lower) os.setPriority(id, lower);
    } catch {
      // It has ended meanwhile, or may not be changed: that costs others time, and is no fault.
    }
  }
}
