import { Command, InvalidArgumentError, Option } from 'commander';
import { auditedNameHash } from '../../auth/index.ts';
import {
  type AuditAction,
  type AuditFilter,
  auditActions,
  type RecordedAuditEntry,
  readAudit,
  wholeService,
} from '../../events/index.ts';
import { isLocalDate } from '../../institutions/index.ts';
import { isNetwork } from '../../shared/text/network.ts';
import { accepting } from '../arguments.ts';
import { chooseInstitution, say, withContext } from '../command.ts';

interface Options {
  readonly institution?: string;
  readonly service?: true;
  readonly since?: Date;
  readonly until?: Date;
  readonly action?: AuditAction;
  readonly outcome?: 'succeeded' | 'refused';
  readonly client?: string;
  readonly user?: string;
  readonly name?: string;
  readonly address?: string;
  readonly transaction?: string;
}

export function auditCommand(): Command {
  return new Command('audit')
    .description('list sign-ins, refusals and changes: a JSON document per line, oldest first')
    .addOption(new Option('--institution <code>', 'whose entries').conflicts('service'))
    .option('--service', 'the entries of the service as a whole: unknown clients, signing keys')
    .option('--since <time>', 'an ISO date or time, or how long ago: 90m, 12h, 7d', readTime)
    .option('--until <time>', 'likewise', readTime)
    .addOption(new Option('--action <action>', 'what was done').choices(auditActions))
    .addOption(new Option('--outcome <outcome>').choices(['succeeded', 'refused']))
    .option('--client <client-id>')
    .option('--user <user-id>')
    .option('--name <name>', 'a username or client id that does not exist, as it was typed')
    .option('--address <network>', 'an address, or a network like 192.0.2.0/24', readNetwork)
    .option('--transaction <id>', 'the transactionId of a response or a log line')
    .action(async (options: Options, command: Command) => {
      const { since, until } = options;
      if (since && until && since > until) command.error('error: --since is later than --until');
      await withContext(async (context) => {
        const { database, auth } = context;
        const institutionId = options.service
          ? wholeService
          : (await chooseInstitution(context, options.institution)).institutionId;
        const filter: AuditFilter = {
          since,
          until,
          action: options.action,
          outcome: options.outcome,
          clientId: options.client,
          userId: options.user,
          nameHash: options.name === undefined ? undefined : auditedNameHash(auth.vault, options.name),
          network: options.address,
          transactionId: options.transaction,
        };
        let found = false;
        for await (const entry of readAudit(database, institutionId, filter)) {
          found = true;
          say(toLine(entry));
        }
        if (!found) process.stderr.write('No entry matches.\n');
      });
    });
}

function toLine(entry: RecordedAuditEntry): string {
  const { at, action, outcome, reason, statedReason, clientId, userId, subject, nameHash, origin, times } =
    entry;
  const { address, operator, transactionId } = origin;
  const { user, host, sudoUser, as } = operator ?? {};
  return JSON.stringify({
    ...{ at, action, outcome, reason, statedReason, clientId, userId, subject },
    nameHash: nameHash && Buffer.from(nameHash).toString('hex'),
    ...{ address: address ?? undefined, operator: user, host: host || undefined, sudoUser, as },
    ...(as !== undefined && { demo: true }),
    ...{ transactionId, times, before: entry.before, after: entry.after },
  });
}

const unitMillis: Readonly<Record<string, number>> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

function readTime(text: string): Date {
  const [, count, unit = ''] = /^([0-9]{1,6})([mhd])$/.exec(text) ?? [];
  const at = count === undefined ? readIso(text) : Date.now() - Number(count) * (unitMillis[unit] ?? 0);
  if (Number.isNaN(at))
    throw new InvalidArgumentError('Must be an ISO date or time, or an age like 90m, 12h or 7d.');
  return new Date(at);
}

/** `Date.parse` alone reads "5" as a month, and February 31 as March 3. */
function readIso(text: string): number {
  const [day = ''] = text.split('T', 1);
  return isLocalDate(day) ? Date.parse(text) : Number.NaN;
}

const readNetwork = accepting(isNetwork, 'Must be an address, or a network like 192.0.2.0/24.');
