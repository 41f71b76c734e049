import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';

const root = fileURLToPath(new URL('..', import.meta.url));
const accountPath = '/digitalbanking/db-accounts/v1/accounts/a-1001-checking';

export interface DemoService extends AsyncDisposable {
  readonly url: string;
  readonly pid: number;
  /** Settings that the service was started with. */
  readonly settings: Readonly<Record<string, string>>;
  /** A pool with as many connections as the caller asked for. */
  readonly pool: Pool;
  /** Reads one account of the demo's member; throws for any status but 200. */
  readAccount(token: string): Promise<void>;
}

/** Starts the demo institution on a new data folder, and waits until it is ready. */
export async function startDemoService(
  port: number,
  connections: number,
  more: Readonly<Record<string, string>> = {},
): Promise<DemoService> {
  const folder = await mkdtemp(path.join(tmpdir(), 'sharedraft-bench-'));
  // If the bench runs as root, the database runs as another user, which must reach its folder.
  await chmod(folder, 0o755);
  const settings = { PORT: String(port), DATA_DIR: folder, LOG_LEVEL: 'silent', ...more };
  const child = spawn(path.join(root, 'bin/sharedraft'), ['serve'], {
    cwd: root,
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const url = `http://127.0.0.1:${port}`;
  const pool = new Pool(url, { connections });
  const stop = async () => {
    await pool.destroy();
    child.kill('SIGTERM');
    if (child.exitCode === null) await once(child, 'exit');
    await rm(folder, { recursive: true, force: true });
  };
  const get = async (path: string, headers = {}) => {
    const { statusCode, body } = await pool.request({ path, method: 'GET', headers });
    await body.dump();
    return statusCode;
  };
  try {
    while ((await get('/readyz').catch(() => 0)) !== 200) {
      if (child.exitCode !== null) throw new Error('the service has exited');
      await sleep(100);
    }
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url,
    pid: child.pid ?? 0,
    settings,
    pool,
    async readAccount(token) {
      const status = await get(accountPath, { authorization: `Bearer ${token}` });
      if (status !== 200) throw new Error(`a read returned ${status}`);
    },
    [Symbol.asyncDispose]: stop,
  };
}
