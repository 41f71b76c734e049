import { open, rename } from 'node:fs/promises';
import path from 'node:path';
import { appendAudit, type CommandOrigin } from '../../events/index.ts';
import type { Institution } from '../../institutions/index.ts';
import type { Clock, Database } from '../../storage/index.ts';
import { assignFiles, selectFile } from '../../transfers/index.ts';
import { lockConnectionOf, saveHeard } from '../standing/connection-queries.ts';
import { writeInstructionFile } from './instruction-file.ts';

interface ExportDeps {
  readonly database: Database;
  readonly clock: Clock;
}

/** A written file. */
export interface ExportedFile {
  readonly name: string;
  readonly instructions: number;
}

/**
 * Writes the instructions that no connector works on to numbered files, one for each business day, and counts them as
 * delivered. The numbers are committed first: a command that dies before its files are written leaves them for
 * `rewriteFile`, and never exports an instruction twice.
 */
export async function exportInstructions(
  { database, clock }: ExportDeps,
  institution: Institution,
  { folder, origin }: { readonly folder: string; readonly origin: CommandOrigin },
): Promise<ExportedFile[]> {
  const at = clock();
  const numbers = await database.transaction(institution.institutionId, async (tx) => {
    // A core that lives on files is there when its operator fetches them.
    if (!(await lockConnectionOf(tx))) await saveHeard(tx, at, 'files');
    const assigned = await assignFiles(tx, at);
    if (assigned.length > 0) {
      const after = { files: assigned };
      await appendAudit(tx, { action: 'core.exported', outcome: 'succeeded', origin, after }, at);
    }
    return assigned;
  });
  const written: ExportedFile[] = [];
  for (const number of numbers) {
    const file = await rewriteFile(database, institution, { folder, number });
    if (file !== undefined) written.push(file);
  }
  return written;
}

/** Writes a file again, with the same content. Undefined: no instruction has this number. */
export async function rewriteFile(
  database: Database,
  { institutionId, code }: Institution,
  { folder, number }: { readonly folder: string; readonly number: number },
): Promise<ExportedFile | undefined> {
  const instructions = await database.read(institutionId, (db) => selectFile(db, number));
  const [first] = instructions;
  if (first === undefined) return undefined;
  const name = `${code}-${String(number).padStart(6, '0')}-${first.businessDate}.csv`;
  // A reader of the folder sees the whole file or none.
  const temporary = path.join(folder, `.${name}.part`);
  const handle = await open(temporary, 'w', 0o600);
  try {
    await handle.writeFile(writeInstructionFile(instructions));
    await handle.sync();
  } finally {
    await handle.close();
  }
  await rename(temporary, path.join(folder, name));
  return { name, instructions: instructions.length };
}
