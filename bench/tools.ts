import { accessSync, constants } from 'node:fs';
import path from 'node:path';

/** Whether a program of this name is on the PATH. BENCH_TOOLS=npm hides them, to measure with what npm installs. */
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
