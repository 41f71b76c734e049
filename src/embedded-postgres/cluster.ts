import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { lchown, lstat, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { DatabaseStartError } from '../storage/index.ts';
import { locateBinaries } from './postgres-binaries.ts';
import { canReach, findServerUser, refuseNamesOf, type ServerUser } from './server-user.ts';

/** The server's place on this machine. */
export interface Cluster {
  readonly folder: string;
  readonly binaries: string;
  readonly user: ServerUser | undefined;
  readonly socketFolder: string;
  /** Held while the server is initialized, started or stopped. */
  readonly lockFile: string;
}

/** The path of a socket, with its name, may have 107 bytes; on macOS 103. */
const longestSocketFolder = 88;
/** Parent of the server's folder if the service runs as root and the data folder is closed to the server's user. */
const rootsFolder = '/var/lib/sharedraft';

/**
 * Chooses the folder and the user of the server. If the data folder is closed to the server's user, the cluster is elsewhere,
 * and a note in the data folder has its path. The caller holds the lock.
 */
export async function prepareCluster(home: string, lockFile: string): Promise<Cluster> {
  const noted = await readNote(home, 'database-is-in');
  const user = await findServerUser(path.join(noted ?? home, 'postgres'));
  if (user !== undefined) await refuseNamesOf(user, home);
  const place = noted ?? (await choosePlace(home, user));
  await mkdir(place, { recursive: true, mode: 0o755 });
  return {
    folder: path.join(place, 'postgres'),
    binaries: await locateBinaries(user, rootsFolder),
    user,
    socketFolder: await prepareSocketFolder(home, place, user),
    lockFile,
  };
}

async function choosePlace(home: string, user: ServerUser | undefined): Promise<string> {
  if (user === undefined || existsSync(path.join(home, 'postgres')) || (await canReach(user, home)))
    return home;
  const place = `${rootsFolder}/${randomUUID()}`;
  await writeFile(path.join(home, 'database-is-in'), `${place}\n`);
  return place;
}

/**
 * The folder of the socket. It is private, since any user who can open the socket is superuser. It stands beside the cluster,
 * where no other user can create it. If that path is too long for a socket, a folder with a random name is created and noted.
 */
async function prepareSocketFolder(
  home: string,
  place: string,
  user: ServerUser | undefined,
): Promise<string> {
  const beside = path.join(place, 'socket');
  if (beside.length <= longestSocketFolder) {
    await mkdir(beside, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    return givePrivateFolder(beside, user);
  }
  const noted = await readNote(home, 'socket-is-in');
  if (noted !== undefined && existsSync(noted)) return givePrivateFolder(noted, user);
  const parent = user === undefined ? shortTemporaryFolder() : rootsFolder;
  await mkdir(parent, { recursive: true, mode: 0o755 });
  const made = await mkdtemp(path.join(parent, 'sharedraft-'));
  await writeFile(path.join(home, 'socket-is-in'), `${made}\n`);
  return givePrivateFolder(made, user);
}

function shortTemporaryFolder(): string {
  const room = longestSocketFolder - '/sharedraft-XXXXXX'.length;
  return os.tmpdir().length <= room ? os.tmpdir() : '/tmp';
}

/** Gives the folder to the server's user if this process is root. A symbolic link is not followed. */
async function givePrivateFolder(folder: string, user: ServerUser | undefined): Promise<string> {
  const found = await lstat(folder);
  const isOurs = [user?.uid, process.getuid?.()].includes(found.uid);
  if (!found.isDirectory() || !isOurs || (found.mode & 0o077) !== 0) {
    throw new DatabaseStartError(
      `The folder ${folder} for the database's socket must be a folder that only its owner, the database's user, may enter. Remove it and start again.`,
    );
  }
  if (user !== undefined) await lchown(folder, user.uid, user.gid);
  return folder;
}

async function readNote(home: string, name: string): Promise<string | undefined> {
  const file = path.join(home, name);
  if (!existsSync(file)) return undefined;
  const folder = (await readFile(file, 'utf8')).trim();
  const isRoot = process.getuid?.() === 0;
  if (path.isAbsolute(folder) && (!isRoot || path.dirname(path.resolve(folder)) === rootsFolder))
    return folder;
  throw new DatabaseStartError(
    `${file} must name a folder ${isRoot ? `in ${rootsFolder}` : 'by its full path'}.`,
  );
}
