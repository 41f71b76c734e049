import { readdir, readFile } from 'node:fs/promises';
import os from 'node:os';

/** On Linux, where each thread has its own priority: the priorities of a process's threads of this name. */
export async function prioritiesOf(pid: number, name: string): Promise<number[]> {
  const found: number[] = [];
  for (const thread of await readdir(`/proc/${pid}/task`)) {
    // A thread may have ended meanwhile.
    const comm = await readFile(`/proc/${pid}/task/${thread}/comm`, 'utf8').catch(() => '');
    if (comm.trim() === name) found.push(os.getPriority(Number(thread)));
  }
  return found;
}
