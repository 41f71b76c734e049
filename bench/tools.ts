import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Whether the PATH has this program. BENCH_TOOLS=npm ignores it, to measure with npm packages only. */
export function onPath(program: string): boolean {
  if (process.env.BENCH_TOOLS === 'npm') return false;
  return (process.env.PATH ?? '').split(path.delimiter).some((folder) => {
    try {
      accessSync(path.join(folder, program), constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
