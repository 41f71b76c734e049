import cluster from 'node:cluster';
import { styleText } from 'node:util';
import { Command } from 'commander';
import { type Config, loadConfig, readEnvironment } from '../../../app/config.ts';
import type { AppContext } from '../../../app/context.ts';
import { loadDemoWhenEmpty } from '../../../app/demo/demo.ts';
import { loadDemoAlerts } from '../../../app/demo/demo-alerts.ts';
import { type DemoCore, mayRunDemoCore, prepareDemoCore, runDemoCore } from '../../../app/demo/demo-core.ts';
import { type Service, startService } from '../../../app/service.ts';
import { openServiceLog, type ServiceLog } from '../../../app/service-log.ts';
import { listInstitutions } from '../../../institutions/index.ts';
import { giveWay } from '../../../shared/process/helper-threads.ts';
import { within } from '../../../shared/within.ts';
import { say } from '../../command.ts';
import { keepHeapSmall } from '../../heap.ts';
import { serveAsWorker, serveByWorkers } from './serve-by-workers.ts';

const parentWatchMillis = 250;
/** Added to the time for requests in flight: closes the database, and stops an embedded one. */
const stopPatienceMillis = 30_000;
/** For log lines that are not read yet. */
const lastWordsMillis = 1_000;

export function serveCommand(): Command {
  return (
    new Command('serve')
      .description('serve; without settings, the demo institutions from an embedded PostgreSQL')
      // The default command also receives unknown words.
      .allowExcessArguments()
      .action(async (_options: object, command: Command) => {
        const [unknown] = command.args;
        if (unknown !== undefined) command.error(`error: unknown command '${unknown}'`);
        await serve();
      })
  );
}

async function serve(): Promise<void> {
  keepHeapSmall();
  giveWay('v8');
  keepServingUnheard();
  const { config, secrets } = loadConfig(await readEnvironment());
  const embedded = config.databaseUrl === undefined;
  // If asked to stop while it starts, it finishes the start and then stops, so that nothing is left behind.
  const stopAsked = whenAskedToStop(config);

  const { stream: logStream, log, debug } = openServiceLog(config.logLevel);
  if (cluster.isWorker) {
    return serveAsWorker(config, secrets, { log, debug, logStream }, stopAsked).finally(leaveSoon);
  }

  let coreFolder: string | undefined;
  let demoCore: DemoCore | undefined;
  const options = {
    log,
    debug,
    logStream,
    beforeListening: async (context: AppContext) => {
      if (embedded || config.allowDemoAnywhere) {
        await loadDemoWhenEmpty(context);
        await loadDemoAlerts(context);
      }
      if (mayRunDemoCore(config)) coreFolder = await prepareDemoCore(context, config);
    },
  };
  const service =
    config.workers > 1
      ? await serveByWorkers(config, secrets, options, stopAsked)
      : await startService(config, secrets, options);
  if (service === undefined) return;
  try {
    const institutions = await service.context.database.directory(listInstitutions);
    const demo = institutions.some((institution) => institution.demo);
    if (process.stdout.isTTY) say(welcome(service.address, config, demo));
    else log('serving', { address: service.address, metrics: service.metricsAddress });
    if (coreFolder !== undefined) demoCore = runDemoCore(coreFolder, service.address, log);
    await stopAsked;
    if (process.stdout.isTTY) say('Stopping: finishing requests in flight …');
    else log('stopping');
  } finally {
    await demoCore?.close();
    await stop(service, config, log).finally(leaveSoon);
  }
}

/** Ends with status 1 if a silent database does not let the service close in time. */
async function stop(service: Service, config: Config, log: ServiceLog['log']): Promise<void> {
  const { shutdownDelaySeconds, shutdownGraceSeconds } = config;
  const closing = service.close();
  if (await within((shutdownDelaySeconds + shutdownGraceSeconds) * 1000 + stopPatienceMillis, closing)) {
    return closing;
  }
  log('stop_timed_out');
  process.exitCode = 1;
}

/** Unread log lines, or a connection that does not end, would keep the process alive. */
function leaveSoon(): void {
  setTimeout(() => process.exit(), lastWordsMillis).unref();
}

/** A closed terminal, or a full disk behind `> file`, loses output and does not end the service. */
function keepServingUnheard(): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
}

/** Resolves at a signal or, under `npm start`, when npm has ended, which may not have passed the signal on. */
function whenAskedToStop(config: Config): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  if (config.startedByNpm) {
    const npm = process.ppid;
    // Unreferenced: a service that cannot start ends.
    setInterval(() => process.ppid !== npm && resolve(), parentWatchMillis).unref();
  }
  return promise;
}

const withHistory = '  with a core and a year of history: meadow-app, meadow.member (README.md)';

/** A page for a terminal. */
export function welcome(
  address: string,
  config: Pick<Config, 'databaseUrl' | 'dataDir' | 'demoCore'>,
  demo: boolean,
): string {
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
    ...(mayRunDemoCore(config) ? [withHistory] : []),
    '',
    bold('Three calls to paste'),
    call(`  U=${address}; D=$U/digitalbanking`),
    call('  TOKEN=$(curl -s $U/auth/v2/token -d grant_type=password \\'),
    call('    -d client_id=demo-app -d client_secret=demo-app-secret \\'),
    call('    -d username=demo.member -d password=demo-member-password |'),
    call(`    sed 's/.*"access_token":"//; s/".*//')`),
    '',
    call('  A="Authorization: Bearer $TOKEN"; curl -s -H "$A" $D/db-accounts/v1/accounts'),
    call(`  curl -s -H "$A" -H 'Content-Type: application/json' \\`),
    call('    $D/db-transfers/v1/transfers \\'),
    call(`    -d '{"fromAccountId":"a-1001-checking",`),
    call(`         "toAccountId":"a-1001-savings","amount":105.25}'`),
    '',
    styleText('dim', 'Ctrl-C stops it.'),
  ].join('\n');
}
