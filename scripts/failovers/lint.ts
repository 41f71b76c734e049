import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  addressOf,
  loopbackNetwork,
  makeCertificate,
  opsFile,
  postgresPrograms,
  replaced,
  serverNumbers,
  standIns,
} from './settings.ts';

/** The verdicts of `patroni --validate-config` and `haproxy -c` on the files of ops/patroni; undefined for one that is not installed. */
export async function lintPatroni(
  isInstalled: (program: string) => boolean,
): Promise<{ readonly [step: string]: SpawnSyncReturns<string> | undefined }> {
  const programs = postgresPrograms();
  const network = loopbackNetwork();
  const folder = mkdtempSync(path.join(tmpdir(), 'sharedraft-patroni-'));
  const canValidate = programs !== undefined && isInstalled('patroni');
  // The validation connects to etcd.
  const etcds = await Promise.all(
    (canValidate ? serverNumbers : []).map(async (server) => {
      const listener = createServer().listen(2379, addressOf(network, server));
      await new Promise((resolve) => listener.once('listening', resolve));
      return listener;
    }),
  );
  try {
    const home = path.join(folder, 'db1');
    mkdirSync(home);
    const words = standIns({ network, folder, server: 1, programs: programs ?? '' });
    for (const name of ['patroni.yml', 'haproxy.cfg'])
      writeFileSync(path.join(home, name), replaced(readFileSync(opsFile(name), 'utf8'), words));
    const run = (program: string, ...parameters: string[]) =>
      isInstalled(program) ? spawnSync(program, parameters, { encoding: 'utf8' }) : undefined;
    const canVerify = isInstalled('openssl');
    if (canVerify) {
      const cert = path.join(home, 'server.pem');
      makeCertificate(network, { cert, key: path.join(home, 'server.key') });
      copyFileSync(cert, path.join(home, 'ca.pem'));
    }
    return {
      patroni: canValidate ? run('patroni', '--validate-config', path.join(home, 'patroni.yml')) : undefined,
      haproxy: canVerify ? run('haproxy', '-c', '-q', '-f', path.join(home, 'haproxy.cfg')) : undefined,
    };
  } finally {
    for (const etcd of etcds) etcd.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
