import { lstat, readFile, realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { trustedUsers } from '../shared/process/trusted-users.ts';
import { DatabaseStartError } from '../storage/index.ts';

/** The user of PostgreSQL if the service runs as root. */
export interface ServerUser {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
}

/** Other programs also run as `nobody` and could reach its files, so only demo data may be stored. */
const sharedUser = 'nobody';
const candidates = ['sharedraft', 'postgres', sharedUser];

/**
 * PostgreSQL refuses to run as root. If the service does, the server runs as the owner of its folder or, before that exists,
 * as the first candidate in /etc/passwd. Undefined for an ordinary user, who runs the server too.
 */
export async function findServerUser(
  clusterFolder: string,
  passwdFile = '/etc/passwd',
): Promise<ServerUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const users = await readUsers(passwdFile);
  const owner = await lstat(clusterFolder).catch(() => undefined);
  const found = users.find(({ uid }) => owner === undefined || owner.uid === uid);
  if (found !== undefined) return found;
  throw new DatabaseStartError(
    owner === undefined
      ? `PostgreSQL cannot run as root, and this machine has none of the users ${candidates.join(', ')}. Make one: ${useradd}`
      : `The folder ${clusterFolder} must belong to one of the users ${candidates.join(', ')} when the service runs as root; it belongs to uid ${owner.uid}. Start the service as that user.`,
  );
}

const useradd = 'useradd --system --user-group --no-create-home --shell /usr/sbin/nologin sharedraft';

/** The refusal of an institution that is not a demo, in one sentence; undefined if the user runs only PostgreSQL. */
export function whyDemoOnly(user: ServerUser | undefined, clusterFolder: string): string | undefined {
  if (user?.name !== sharedUser) return undefined;
  return (
    `The embedded PostgreSQL runs as the user "${sharedUser}", which other programs share; only a demo institution may be kept there. ` +
    `Stop the service, then run: ${useradd} && chown -Rh sharedraft:sharedraft ${clusterFolder} ${path.join(path.dirname(clusterFolder), 'socket')}`
  );
}

async function readUsers(passwdFile: string): Promise<ServerUser[]> {
  const lines = (await readFile(passwdFile, 'utf8')).split('\n').map((line) => line.split(':'));
  return candidates.flatMap((name) => {
    const fields = lines.find(([first]) => first === name);
    return fields === undefined ? [] : [{ name, uid: Number(fields[2]), gid: Number(fields[3]) }];
  });
}

/** Whether the user may enter the folder and every folder above it. */
export async function canReach(user: ServerUser, folder: string): Promise<boolean> {
  for (const at of upward(folder)) {
    const { mode, uid, gid } = await stat(at);
    const bit = uid === user.uid ? 0o100 : gid === user.gid ? 0o010 : 0o001;
    if ((mode & bit) === 0) return false;
  }
  return true;
}

/**
 * Throws unless the server's user is unable to replace any name on the path: root opens, changes and removes only such names.
 * No folder on the way may belong to that user or be writable by them. With the sticky bit, as in /tmp, only the owner of a
 * name can replace it.
 */
export async function refuseNamesOf(user: ServerUser, folder: string): Promise<void> {
  for (const at of upward(folder)) {
    const { mode, uid, gid } = await stat(at);
    const writable = (mode & 0o002) !== 0 || (gid === user.gid && (mode & 0o020) !== 0);
    const sticky = at !== folder && (mode & 0o1000) !== 0;
    if (uid === user.uid || (writable && !sticky)) {
      throw new DatabaseStartError(
        `The service runs as root, and the database's user "${user.name}" can write ${at}. Start the service as an ordinary user, or set DATA_DIR to a folder below folders that only root can write.`,
      );
    }
  }
}

/**
 * Throws DatabaseStartError if another user owns or can write the data folder, since that user could replace its files by
 * links or pipes. For root, no folder above may belong to another user either, by the given path or the real one. Call it
 * before any file of the folder is opened.
 */
export async function refuseFolderOfOthers(dataDir: string): Promise<void> {
  const trusted = await trustedUsers();
  if (trusted === undefined) return;
  const isRoot = process.geteuid?.() === 0;
  const given = path.resolve(dataDir);
  const names = isRoot ? [...upward(given), ...upward(await realpath(given).catch(() => given))] : [given];
  for (const at of new Set(names)) {
    const [name, folder] = await Promise.all([lstat(at), stat(at)]).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
    if (name === undefined || folder === undefined) continue;
    const stranger = [name.uid, folder.uid].find((uid) => !trusted.includes(uid));
    if (stranger !== undefined) {
      throw new DatabaseStartError(
        `The user with the number ${stranger} owns ${at} and could put other files in its place. Set DATA_DIR to a folder below folders of your own or of root's.`,
      );
    }
    if (isRoot && (folder.mode & 0o002) !== 0 && (at === given || (folder.mode & 0o1000) === 0)) {
      throw new DatabaseStartError(
        `Every user can write ${at}. Set DATA_DIR to a folder below folders that only you or root can write.`,
      );
    }
  }
}

/** The folder and all folders above it. */
function upward(folder: string): string[] {
  const parent = path.dirname(folder);
  return parent === folder ? [folder] : [folder, ...upward(parent)];
}
