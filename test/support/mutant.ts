import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** A defect: one piece of a source file, and its replacement. */
export interface Mutation {
  /** The path below src/. */
  readonly file: string;
  readonly instead: readonly [of: string, there: string];
}

/** The unchanged program, or a copy of it with a defect, loaded beside it into this process. */
export interface Program extends Disposable {
  load<Module>(file: string): Promise<Module>;
}

export const unchangedProgram: Program = {
  load: (file) => import(pathToFileURL(path.join(root, 'src', file)).href),
  [Symbol.dispose]: () => {},
};

/** Throws if the replaced piece is not exactly once in the source. */
export function mutate({ file, instead: [before, after] }: Mutation): Program {
  const source = readFileSync(path.join(root, 'src', file), 'utf8');
  const found = source.split(before).length - 1;
  if (found !== 1) throw new Error(`${file} has this ${found} times, once was expected: ${before}`);
  const folder = mkdtempSync(path.join(os.tmpdir(), 'sharedraft-mutant-'));
  cpSync(path.join(root, 'src'), path.join(folder, 'src'), { recursive: true });
  cpSync(path.join(root, 'package.json'), path.join(folder, 'package.json'));
  // The packages are the same for all, and loaded once.
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  writeFileSync(
    path.join(folder, 'src', file),
    source.replace(before, () => after),
  );
  return {
    load: (name) => import(pathToFileURL(path.join(folder, 'src', name)).href),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
