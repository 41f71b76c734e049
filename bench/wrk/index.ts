/** Steady load by wrk, if it is on the PATH: it leaves more of the machine to the service than undici does. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Job, JobResult } from '../job.ts';
import { onPath } from '../tools.ts';

const run = promisify(execFile);
const script = fileURLToPath(new URL('requests.lua', import.meta.url));
const isInstalled = onPath('wrk');

/** Names the client in the head of the table. */
export const steadyClient = isInstalled ? 'wrk for steady load, otherwise ' : '';

/**
 * wrk has no constant rate and no Retry-After, and cannot send each token once before it measures; its script has no dry
 * runs, conditional requests and accounts in turn.
 */
export function wrkCan({ traffic, sources, perSecond, honourRetryAfter, as, warmupSeconds }: Job): boolean {
  if (traffic === 'dry-run' || traffic === 'unchanged' || sources === 'each') return false;
  return isInstalled && perSecond === undefined && !honourRetryAfter && as !== 'flood' && warmupSeconds > 0;
}

/** `began` is called when the measured time begins. Requests under way at the end are in no figure. */
export async function runWrk(job: Job, folder: string, began: () => void): Promise<JobResult> {
  const warm = await runFor(job, folder, job.warmupSeconds);
  began();
  const measured = await runFor(job, folder, job.seconds);
  const { answered, failed, broken, seconds, p50, p99, most } = measured;
  const status = job.traffic === 'transfers' ? 201 : 200;
  const wrong = failed + warm.failed + broken + warm.broken;
  return {
    perSecond: answered / seconds,
    statuses: { [status]: answered },
    allStatuses: { [status]: answered + warm.answered },
    millis: { p50, p99, most },
    refusedMillis: null,
    unsent: 0,
    unexpected: wrong > 0 ? `${wrong} of wrk’s requests failed` : null,
  };
}

async function runFor(job: Job, folder: string, seconds: number) {
  const jobFile = path.join(folder, 'wrk.txt');
  await writeFile(jobFile, linesOf(job));
  const load = ['--threads', '1', '--connections', String(job.connections), '--duration', `${seconds}s`];
  const { stdout } = await run('wrk', [...load, '--script', script, job.url, '--', jobFile]);
  const figures = /^RESULT (.*)$/m.exec(stdout)?.[1]?.split(' ').map(Number);
  if (figures?.length !== 7) throw new Error(`wrk printed:\n${stdout}`);
  const [requests = 0, micros = 0, failed = 0, broken = 0, p50 = 0, p99 = 0, most = 0] = figures;
  const answered = requests - failed;
  return {
    answered,
    failed,
    broken,
    seconds: micros / 1e6,
    p50: p50 / 1000,
    p99: p99 / 1000,
    most: most / 1000,
  };
}

/** One name and value per line, as requests.lua reads them. Transfer ids contain the seed. */
function linesOf({ traffic, sources = 'uniform', credentials, people }: Job): string {
  const seed = Date.now() % 2 ** 31;
  const lines = [`traffic ${traffic}`, `sources ${sources}`, `seed ${seed}`];
  if (traffic === 'token') {
    const body = new URLSearchParams({
      grant_type: 'client_credentials',
      client_id: credentials?.clientId ?? '',
      client_secret: credentials?.clientSecret ?? '',
    });
    lines.push(`body ${body}`);
  }
  if (people !== null) {
    lines.push(`step ${people.step}`, `own ${people.accountsPerInstitution}`);
    for (const token of people.tokens) lines.push(`token ${token}`);
  }
  return `${lines.join('\n')}\n`;
}
