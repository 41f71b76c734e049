import { createReadStream, existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { DatabaseStartError } from '../storage/index.ts';
import type { Cluster } from './cluster.ts';
import { createUnfinished, removeFolder, runAsServer } from './server-process.ts';

/** The name that the server gives to the archive of a backup. */
export const archiveName = 'base.tar';

/**
 * Creates the cluster's folder from the archive of a base backup, under another name until it is complete. The server replays the
 * log of the archive when it starts, and then begins a new timeline, at which every connection begins a new epoch of events.
 */
export async function unpackCluster(cluster: Cluster, archive: string): Promise<void> {
  if (existsSync(cluster.folder)) {
    throw new DatabaseStartError(
      `There is a database in ${cluster.folder} already. Set DATA_DIR to a new folder, or move that one away.`,
    );
  }
  const unfinished = await createUnfinished(cluster);
  const unpack = 'tar -xpf - -C "$1" && : > "$1/recovery.signal" && sync';
  const { code, output } = await runAsServer(cluster, '/bin/sh', ['-c', unpack, 'sh', unfinished], {
    input: createReadStream(archive),
  });
  if (code !== 0) {
    await removeFolder(cluster, unfinished);
    throw new DatabaseStartError(`The archive ${archive} cannot be unpacked: ${output.trim()}`);
  }
  await rename(unfinished, cluster.folder);
}
