// Starts the service behind PgBouncer in each of its modes, and prints whether it serves or the sentence with which it refuses to start.
//
//   node scripts/pgbouncer.ts --program /usr/sbin/pgbouncer
//
// The gate imitates poolers instead (test/support/pooler.ts), since not every machine has the program. Exits with 1 if the service
// serves behind a pooler that shares server processes between transactions, or does not serve by the recipe.
import { spawn } from 'node:child_process';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../src/app/config.ts';
import { startService } from '../src/app/service.ts';
import { ownEmbeddedPostgres } from '../src/embedded-postgres/index.ts';
import { embeddedLogin, migrate } from '../src/storage/index.ts';
import { asSuperuser } from '../test/support/postgres.ts';
import { exitOf, freePort } from '../test/support/processes.ts';

const { values } = parseArgs({ options: { program: { type: 'string', default: 'pgbouncer' } } });
const say = (text: string) => process.stdout.write(`${text}\n`);

const parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-pgbouncer-'));
await chmod(parent, 0o755);
const postgres = await ownEmbeddedPostgres({ dataDir: path.join(parent, 'data'), log: () => {} });
const { host, port, database } = postgres.connection;

/** The outcome of a start behind PgBouncer with these settings. */
async function start(settings: Readonly<Record<string, string>>): Promise<string> {
  const listen = await freePort();
  const users = path.join(parent, 'users.txt');
  await writeFile(users, `"${embeddedLogin}" ""\n"postgres" ""\n`);
  const all = {
    listen_addr: '127.0.0.1',
    listen_port: listen,
    unix_socket_dir: '',
    auth_type: 'trust',
    auth_file: users,
    ...settings,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name} = ${value}`);
  const file = path.join(parent, 'pgbouncer.ini');
  await writeFile(
    file,
    `[databases]\n${database} = host=${host} port=${port} dbname=${database}\n[pgbouncer]\n${lines.join('\n')}\n`,
  );
  // PgBouncer refuses to run as root, and only the server's user reaches the socket.
  const asServer = process.getuid?.() === 0 ? ['-u', 'postgres'] : [];
  const pooler = spawn(values.program, [...asServer, file], { stdio: 'ignore' });
  const failed = new Promise<string>((resolve) => pooler.once('error', (error) => resolve(String(error))));
  try {
    await Promise.race([sleep(1_000), failed]);
    if (pooler.pid === undefined) return await failed;
    const urlOf = (user: string) => `postgresql://${user}@127.0.0.1:${listen}/${database}`;
    const { config, secrets } = loadConfig({
      PORT: '0',
      DATABASE_URL: urlOf(embeddedLogin),
      MIGRATION_DATABASE_URL: urlOf('postgres'),
      SECRET_KEY: '11'.repeat(32),
      LOG_LEVEL: 'silent',
    });
    const service = await startService(config, secrets, { log: () => {} });
    const { status } = await fetch(`${service.address}/readyz`);
    await service.close();
    return `serves, /readyz ${status}`;
  } catch (error) {
    const { message, cause } = error as Error;
    return `refuses to start: ${message}${cause instanceof Error ? ` (${cause.message})` : ''}`;
  } finally {
    pooler.kill('SIGKILL');
    if (pooler.pid !== undefined) await exitOf(pooler);
  }
}

/** The statements of docs/configuration.md, for the login of this database. */
async function giveSettingsToRole(): Promise<void> {
  const page = await readFile(new URL('../docs/configuration.md', import.meta.url), 'utf8');
  const statements = [...page.matchAll(/^alter role bank_app set .*;$/gm)].map(([statement]) => statement);
  await asSuperuser(postgres.connection, async (client) => {
    for (const statement of statements) await client.query(statement.replace('bank_app', embeddedLogin));
  });
}

const wrong: string[] = [];
try {
  await migrate(postgres.connection, { login: embeddedLogin });
  for (const mode of ['session', 'transaction', 'statement']) {
    for (const ignored of ['', 'options', 'options,extra_float_digits']) {
      const outcome = await start({
        pool_mode: mode,
        default_pool_size: '30',
        ...(ignored && { ignore_startup_parameters: ignored }),
      });
      say(`${mode}${ignored && `, ignore_startup_parameters=${ignored}`}: ${outcome}`);
      if (mode !== 'session' && outcome.startsWith('serves')) wrong.push(mode);
    }
  }
  await giveSettingsToRole();
  const session = { pool_mode: 'session', default_pool_size: '30', ignore_startup_parameters: 'options' };
  const recipe = await start(session);
  say(`session, with the recipe of docs/configuration.md: ${recipe}`);
  if (!recipe.startsWith('serves')) wrong.push('recipe');
} finally {
  await postgres.stop();
  await rm(parent, { recursive: true, force: true });
}
process.exitCode = wrong.length > 0 ? 1 : 0;
