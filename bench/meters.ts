import { readdir, readFile } from 'node:fs/promises';

/**
 * CPU seconds of the process and its exited children; with `family`, also of its running children. Linux only:
 * undefined elsewhere.
 */
export async function cpuSeconds(pid: number, family: boolean): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const pids = family ? [pid, ...(await childrenOf(pid))] : [pid];
  const all = await Promise.all(pids.map(usedBy));
  return all.reduce((sum, one) => sum + one, 0);
}

/** Current resident memory of the process and its children. Linux only: undefined elsewhere. */
export async function residentBytes(pid: number): Promise<number | undefined> {
  if (process.platform !== 'linux') return undefined;
  const all = await Promise.all(
    [pid, ...(await childrenOf(pid))].map(async (one) => {
      const status = await readFile(`/proc/${one}/status`, 'utf8').catch(() => '');
      return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) * 1024;
    }),
  );
  return all.reduce((sum, one) => sum + one, 0);
}

/** Clock ticks are 1/100 s on every Linux that Node runs on. */
async function usedBy(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return 0;
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  // utime, stime, and the same of children that were waited for.
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / 100;
}

async function childrenOf(pid: number): Promise<number[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(
    pids.map(async (one) => {
      const stat = await readFile(`/proc/${one}/stat`, 'utf8').catch(() => '');
      return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
    }),
  );
  return pids.filter((_, index) => parents[index] === pid);
}
