import { loadConfig } from '../../src/app/config.ts';
import { loadDemoWhenEmpty } from '../../src/app/demo/demo.ts';
import { type Service, startService } from '../../src/app/service.ts';
import type { Log } from '../../src/app/service-log.ts';
import type { Clock } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from './database.ts';
import { testSecretKey } from './secret-key.ts';

/** The whole service on its own database, on a free port. */
export interface TestService extends AsyncDisposable {
  readonly address: string;
  readonly service: Service;
  readonly db: TestDatabase;
  close(): Promise<void>;
}

export interface TestServiceOptions {
  /** Load the demo institutions (default). */
  readonly demo?: boolean;
  readonly clock?: Clock;
  readonly environment?: Readonly<Record<string, string>>;
  /** The service's log events. */
  readonly log?: Log;
  /** Events that explain the service, as at the level debug. */
  readonly debug?: Log;
  /** Takes the lines of the request log. */
  readonly logStream?: { write(line: string): void };
  /** A second process's service beside another: shares its database and key. */
  readonly beside?: TestService;
}

export async function startTestService(options: TestServiceOptions = {}): Promise<TestService> {
  const db = options.beside?.db ?? (await testDatabase());
  const { config, secrets } = loadConfig({
    PORT: '0',
    PUBLIC_URL: 'http://sharedraft.test',
    DATABASE_URL: db.url,
    SECRET_KEY: testSecretKey,
    LOG_LEVEL: 'silent',
    FAILED_LOGIN_PAUSE_MILLIS: '1',
    ALLOW_DEMO_ANYWHERE: 'true',
    ...options.environment,
  });
  const service = await startService(config, secrets, {
    log: options.log ?? (() => {}),
    debug: options.debug,
    ...(options.logStream && { logStream: options.logStream }),
    ...(options.clock && { clock: options.clock }),
    beforeListening: async (context) => {
      if (options.demo !== false && options.beside === undefined) await loadDemoWhenEmpty(context);
    },
  });
  const close = async () => {
    await service.close();
    if (options.beside === undefined) await db.close();
  };
  return { address: service.address, service, db, close, [Symbol.asyncDispose]: close };
}
