import { type TestDatabase, testDatabase } from './database.ts';
import { addressOf, exitOf, launch } from './processes.ts';

/** The demo institutions served by several processes on one port, on a database of their own. */
export interface ServedByWorkers {
  readonly address: string;
  /** With METRICS_PORT. */
  readonly metricsAddress: string | undefined;
  readonly db: TestDatabase;
  /** The first process, which started the others. */
  readonly pid: number;
  /** Resolves with the exit code. */
  close(): Promise<number | null>;
}

export async function startWorkers(
  count: number,
  environment: Readonly<Record<string, string>> = {},
): Promise<ServedByWorkers> {
  const db = await testDatabase();
  const launched = launch([process.execPath, 'src/main.ts', 'serve'], {
    WORKERS: String(count),
    DATABASE_URL: db.url,
    SECRET_KEY: 'ab'.repeat(32),
    ALLOW_DEMO_ANYWHERE: 'true',
    ...environment,
  });
  const address = await addressOf(launched);
  return {
    address,
    metricsAddress: /"metrics":"([^"]+)"/.exec(launched.output())?.[1],
    db,
    pid: launched.child.pid as number,
    close: async () => {
      launched.child.kill('SIGTERM');
      const code = await exitOf(launched.child);
      await db.close();
      return code;
    },
  };
}
