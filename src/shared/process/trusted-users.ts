import { stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const programFile = fileURLToPath(import.meta.url);

/**
 * Owners of files that this process may believe: root, its own user, and the owner of the program, who can change the program
 * anyway. Undefined on systems without user numbers.
 */
export async function trustedUsers(): Promise<readonly number[] | undefined> {
  const ownUid = process.geteuid?.();
  return ownUid === undefined ? undefined : [0, ownUid, (await stat(programFile)).uid];
}
