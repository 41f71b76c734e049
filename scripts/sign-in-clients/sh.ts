import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';

/** Lines of a failed program's output that its error keeps. */
const lastLines = 40;

/** Returns the output; throws with the errors if the program fails. */
export async function sh(
  cwd: string,
  program: string,
  parameters: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(program, parameters, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const [[status], stdout, stderr] = await Promise.all([
    once(child, 'exit'),
    read(child.stdout),
    read(child.stderr),
  ]);
  if (status === 0) return stdout;
  const said = `${stdout}${stderr}`.trim().split('\n').slice(-lastLines).join('\n');
  throw new Error(`${program} ${parameters.slice(0, 3).join(' ')} failed:\n${said}`);
}

async function read(stream: Readable): Promise<string> {
  return Buffer.concat(await Array.fromAsync(stream)).toString();
}
