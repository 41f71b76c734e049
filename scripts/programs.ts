import { execFileSync } from 'node:child_process';

/** On the PATH, or a file that may be run. */
export function isInstalled(program: string): boolean {
  try {
    execFileSync('which', [program], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** The first line of `--version`. */
export function versionOf(program: string): string {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).split('\n')[0]?.trim() ?? '';
}
