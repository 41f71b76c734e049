import { chmod, mkdir, open, rename, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { CommandError } from './command-error.ts';

/** The session that `sharedraft login` keeps for its system user. */
export interface KeptSession {
  readonly server: string;
  readonly institution: string;
  readonly token: string;
}

export function sessionFile(): string {
  return path.join(os.homedir(), '.config', 'sharedraft', 'session.json');
}

/** Undefined if there is none. CommandError for a file that others may read or write, since they may have read or planted it. */
export async function readKeptSession(file: string): Promise<KeptSession | undefined> {
  const handle = await open(file, 'r').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (handle === undefined) return undefined;
  try {
    // The open file, so that no other one takes its place after the check.
    const { mode, uid } = await handle.stat();
    if ((mode & 0o077) !== 0 || uid !== process.getuid?.()) {
      throw new CommandError(
        `${file} must belong to you with the rights 0600. Run \`sharedraft logout\` and \`sharedraft login\`.`,
      );
    }
    const { server, institution, token } = JSON.parse(await handle.readFile('utf8')) as KeptSession;
    return { server, institution, token };
  } finally {
    await handle.close();
  }
}

/** Writes a new file and renames it: nobody reads a half, and the rights are narrow from the first byte on. */
export async function keepSession(file: string, session: KeptSession): Promise<void> {
  const folder = path.dirname(file);
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const made = `${file}.${process.pid}`;
  await rm(made, { force: true });
  const handle = await open(made, 'wx', 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(session)}\n`);
  } finally {
    await handle.close();
  }
  // A narrower umask would take rights from the owner too.
  await chmod(made, 0o600);
  await rename(made, file);
}

export async function forgetSession(file: string): Promise<void> {
  await rm(file, { force: true });
}
