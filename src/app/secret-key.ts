import { randomBytes } from 'node:crypto';
import { mkdir, open, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type Config, ConfigError, type Secrets } from './config.ts';
import { parseKey } from './settings.ts';

/**
 * The configured key. With the embedded database: a key made at the first start and kept beside the data. It seals all other
 * secrets. Throws ConfigError if its file cannot be written, is damaged, has rights for others, or belongs to another user
 * than root or the user of this process.
 */
export async function keyEncryptionKey(
  config: Config,
  secrets: Secrets,
  ownUid = process.geteuid?.(),
): Promise<Uint8Array> {
  if (secrets.keyEncryptionKey !== undefined) return secrets.keyEncryptionKey;
  const file = path.join(config.dataDir, 'secret.key');
  await mkdir(config.dataDir, { recursive: true });
  await writeFile(file, `${randomBytes(32).toString('base64')}\n`, { mode: 0o600, flag: 'wx' }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST')
        throw new ConfigError([`DATA_DIR: cannot keep a key in it (${error.code})`]);
    },
  );
  await using kept = await open(file).catch((error: NodeJS.ErrnoException) => {
    throw new ConfigError([`${file}: cannot be read (${error.code})`]);
  });
  const { mode: type, uid } = await kept.stat();
  if (ownUid !== undefined && uid !== ownUid && uid !== 0) {
    throw new ConfigError([
      `${file}: expected a file of the user that runs this (${ownUid}) or of root, and it belongs to user ${uid}`,
    ]);
  }
  const mode = type & 0o777;
  if ((mode & 0o077) !== 0) {
    throw new ConfigError([
      `${file}: expected a file for its owner alone (chmod 600), and others have rights to it (${mode.toString(8)})`,
    ]);
  }
  const key = parseKey((await kept.readFile('utf8')).trim());
  if (key === undefined) throw new ConfigError([`${file}: expected 32 bytes in base64; the file is damaged`]);
  return key;
}
