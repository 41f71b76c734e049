import { styleText } from 'node:util';
import { Command } from 'commander';
import { type Config, loadConfig, readEnvironment } from '../config.ts';
import { loadDemoWhenEmpty } from '../demo.ts';
import { listInstitutions } from '../institutions/index.ts';
import { startService } from '../service.ts';
import { say } from './command.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('serve; without any setting the demo institution, from an embedded PostgreSQL')
    .action(serve);
}

async function serve(): Promise<void> {
  const { config, secrets } = loadConfig(await readEnvironment());
  const embedded = config.databaseUrl === undefined;
  // Asked to stop while starting: starting is finished first, then undone, so that nothing is left behind.
  const stopAsked = Promise.withResolvers<void>();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stopAsked.resolve());

  const service = await startService(config, secrets, {
    log: (event, details) => logStartup(config, event, details),
    beforeListening: async (stores) => {
      if (embedded || config.allowDemoAnywhere) await loadDemoWhenEmpty(stores);
    },
  });
  const institutions = await service.stores.database.directory(listInstitutions);
  say(
    welcome(
      service.address,
      config,
      institutions.some((institution) => institution.demo),
    ),
  );
  await stopAsked.promise;
  say('Stopping: finishing what is in flight …');
  await service.close();
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
    call(`  TOKEN=$(curl -s ${address}/auth/v2/token -d grant_type=password -d client_id=demo-app \\`),
    call('    -d client_secret=demo-app-secret -d username=demo.member -d password=demo-member-password \\'),
    call(`    | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`),
    '',
    call(`  curl -s ${address}/digitalbanking/db-accounts/v1/accounts -H "Authorization: Bearer $TOKEN"`),
    '',
    call(
      `  curl -s ${address}/digitalbanking/db-transfers/v1/transfers -H "Authorization: Bearer $TOKEN" \\`,
    ),
    call(`    -H 'Content-Type: application/json' -d '{"fromAccountId":"a-1001-checking",`),
    call(`    "toAccountId":"a-1001-savings","amount":105.25}'`),
    '',
    styleText('dim', 'Ctrl-C stops it.'),
  ].join('\n');
}
