import cluster from 'node:cluster';
import { styleText } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { Command } from 'commander';
import { type Config, loadConfig, readEnvironment } from '../config.ts';
import { loadDemoWhenEmpty } from '../demo.ts';
import { giveWay } from '../helper-threads.ts';
import { listInstitutions } from '../institutions/index.ts';
import { startService } from '../service.ts';
import type { Stores } from '../stores.ts';
import { say } from './command.ts';
import { serveAsWorker, serveByWorkers } from './serve-by-workers.ts';

const parentWatchMillis = 250;

/**
 * What is left of requests is collected when the heap has grown by a third, and first at 40 MB: left alone, V8 was seen
 * to let it grow to four times what is in use. What young collections copy is little: helpers cost more than they take
 * off (ADR 11).
 */
const heapFlags = ['--heap-growing-percent=30', '--initial-old-space-size=40', '--no-parallel-scavenge'];

export function serveCommand(): Command {
  return (
    new Command('serve')
      .description('serve; without any setting the demo institution, from an embedded PostgreSQL')
      // As the default command it is also given what is no command at all.
      .allowExcessArguments()
      .action(async (_options: object, command: Command) => {
        const [unknown] = command.args;
        if (unknown !== undefined) command.error(`error: unknown command '${unknown}'`);
        await serve();
      })
  );
}

async function serve(): Promise<void> {
  for (const flag of heapFlags) setFlagsFromString(flag);
  giveWay('v8');
  keepServingUnheard();
  const { config, secrets } = loadConfig(await readEnvironment());
  const embedded = config.databaseUrl === undefined;
  // Asked to stop while starting: starting is finished first, then undone, so that nothing is left behind.
  const stopAsked = whenAskedToStop(config);

  const log = (event: string, details?: object) => logStartup(config, event, details);
  if (cluster.isWorker) return serveAsWorker(config, secrets, { log }, stopAsked);

  const options = {
    log,
    beforeListening: async (stores: Stores) => {
      if (embedded || config.allowDemoAnywhere) await loadDemoWhenEmpty(stores);
    },
  };
  const service =
    config.workers > 1
      ? await serveByWorkers(config, secrets, options, stopAsked)
      : await startService(config, secrets, options);
  if (service === undefined) return;
  const institutions = await service.stores.database.directory(listInstitutions);
  say(
    welcome(
      service.address,
      config,
      institutions.some((institution) => institution.demo),
    ),
  );
  await stopAsked;
  say('Stopping: finishing what is in flight …');
  await service.close();
}

/** A terminal that was closed or a full disk behind `> file` takes the words away, not the service. */
function keepServingUnheard(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** By a signal, once or more; or, under `npm start`, by the end of npm, which may have had no time to pass one on. */
function whenAskedToStop(config: Config): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  if (config.startedByNpm) {
    const npm = process.ppid;
    // It keeps nobody here: a service that could not start ends.
    setInterval(() => process.ppid !== npm && resolve(), parentWatchMillis).unref();
  }
  return promise;
}

function logStartup(config: Config, event: string, details: object = {}): void {
  if (config.logLevel === 'silent') return;
  const { error } = details as { error?: unknown };
  const reason = error instanceof Error ? `: ${error.message}` : '';
  process.stderr.write(`${styleText('dim', `${event.replaceAll('_', ' ')}${reason}`)}\n`);
}

/** A page that fits a terminal, for whoever has just typed the one command. */
function welcome(address: string, config: Config, demo: boolean): string {
  const bold = (text: string) => styleText('bold', text);
  const link = (text: string) => styleText(['cyan', 'underline'], text);
  const call = (text: string) => styleText('green', text);
  const lines = [
    '',
    `${bold('Sharedraft')} is serving at ${link(address)}`,
    `  API reference  ${link(`${address}/docs`)}`,
    `  Data           ${config.databaseUrl === undefined ? config.dataDir : 'external PostgreSQL'}`,
  ];
  if (!demo) return lines.join('\n');
  return [
    ...lines,
    '',
    `${bold('The demo institution')}, invented members and public credentials:`,
    '  client  demo-app     secret    demo-app-secret',
    '  member  demo.member  password  demo-member-password',
    '',
    bold('Three calls to paste'),
    call(`  U=${address}; D=$U/digitalbanking`),
    call('  TOKEN=$(curl -s $U/auth/v2/token -d grant_type=password \\'),
    call('    -d client_id=demo-app -d client_secret=demo-app-secret \\'),
    call('    -d username=demo.member -d password=demo-member-password |'),
    call(`    sed 's/.*"access_token":"//; s/".*//')`),
    '',
    call('  A="Authorization: Bearer $TOKEN"; curl -s -H "$A" $D/db-accounts/v1/accounts'),
    '',
    call(`  curl -s -H "$A" -H 'Content-Type: application/json' \\`),
    call('    $D/db-transfers/v1/transfers \\'),
    call(`    -d '{"fromAccountId":"a-1001-checking",`),
    call(`         "toAccountId":"a-1001-savings","amount":105.25}'`),
    '',
    styleText('dim', 'Ctrl-C stops it.'),
  ].join('\n');
}
