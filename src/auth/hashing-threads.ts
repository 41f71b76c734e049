import { readdirSync, readFileSync } from 'node:fs';
import os from 'node:os';

const poolThread = 'libuv-worker';
const lower = os.constants.priority.PRIORITY_BELOW_NORMAL;

/**
 * The threads on which passwords are hashed, libuv's, give way to the one that serves. By half of what there is to give:
 * on a machine that is busy for long, logins must still come to an end. On Linux a priority is each thread's own;
 * elsewhere it would be the whole process's, and they stay as they are.
 */
export function giveWay(): void {
  if (process.platform !== 'linux') return;
  for (const thread of readdirSync('/proc/self/task')) {
    try {
      const name = readFileSync(`/proc/self/task/${thread}/comm`, 'utf8').trim();
      const id = Number(thread);
      if (name === poolThread && os.getPriority(id) < lower) os.setPriority(id, lower);
    } catch {
      // It has ended meanwhile, or may not be changed: that costs others time, and is no fault.
    }
  }
}
