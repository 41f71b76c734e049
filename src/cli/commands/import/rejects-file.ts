import { open, readFile, rename, rm } from 'node:fs/promises';
import type { RejectedRow } from '../../../core-system/index.ts';
import { CommandError } from '../../command.ts';

const header = 'file,line,column,reason';

/** CommandError if the file exists and is no earlier list of rejected rows: it may be a file of the extract. */
export async function refuseOtherFile(file: string): Promise<void> {
  const found = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw new CommandError(`${file} cannot be read (${error.code}). Give --rejects another file.`);
  });
  if (found === undefined || found.startsWith(`${header}\n`)) return;
  throw new CommandError(`${file} exists and does not begin with ${header}. Give --rejects another file.`);
}

/** Writes the list whole or not at all: an interrupted import leaves the earlier one. */
export async function writeRejects(
  file: string,
  blocks: AsyncIterable<readonly RejectedRow[]>,
): Promise<void> {
  const unfinished = `${file}.unfinished`;
  try {
    const output = await open(unfinished, 'w', 0o600);
    try {
      await output.write(`${header}\n`);
      for await (const rows of blocks) {
        const lines = rows.map(({ file: of, line, columnName, expected }) =>
          [of, String(line), columnName, `expected ${expected}`].map(quoted).join(','),
        );
        await output.write(lines.map((line) => `${line}\n`).join(''));
      }
      await output.sync();
    } finally {
      await output.close();
    }
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true });
    const { code, syscall } = error as NodeJS.ErrnoException;
    if (syscall === undefined) throw error;
    throw new CommandError(`${file} cannot be written (${code}). Nothing was imported.`);
  }
}

/** RFC 4180. */
function quoted(value: string): string {
  return /[",\n]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
}
