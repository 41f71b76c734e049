import { Command, InvalidArgumentError, Option } from 'commander';
import type { AppContext } from '../../../app/context.ts';
import { auditedNameHash } from '../../../auth/index.ts';
import { type AuditAction, type AuditFilter, auditActions } from '../../../events/index.ts';
import { isLocalDate } from '../../../institutions/index.ts';
import { auditDocument, searchAudit } from '../../../operators/index.ts';
import { isNetwork } from '../../../shared/text/network.ts';
import { accepting, wholeNumber } from '../../arguments.ts';
import { say } from '../../command.ts';
import { onAudit, type ScopeOptions } from './scope.ts';

interface Options extends ScopeOptions {
  readonly since?: Date;
  readonly until?: Date;
  readonly action?: AuditAction;
  readonly outcome?: 'succeeded' | 'refused';
  readonly client?: string;
  readonly user?: string;
  readonly operator?: string;
  readonly subject?: string;
  readonly name?: string;
  readonly address?: string;
  readonly transaction?: string;
  readonly limit?: number;
  readonly after?: bigint;
}

export function search(): Command {
  const command = new Command('search')
    .description('list sign-ins, refusals and changes: a JSON document per line, oldest first')
    .option('--since <time>', 'an ISO date or time, or how long ago: 90m, 12h, 7d', readTime)
    .option('--until <time>', 'likewise', readTime)
    .addOption(new Option('--action <action>', 'what was done').choices(auditActions))
    .addOption(new Option('--outcome <outcome>').choices(['succeeded', 'refused']))
    .option('--client <client-id>')
    .option('--user <user-id>')
    .option(
      '--operator <name>',
      'the name or id of an operator, the system user of a command, or its SUDO_USER',
    )
    .option('--subject <id>', 'the id of a transfer, an account, a key or a token')
    .option('--name <name>', 'a username or client id that does not exist, as it was typed')
    .option('--address <network>', 'an address, or a network like 192.0.2.0/24', readNetwork)
    .option('--transaction <id>', 'the transactionId of a response or a log line')
    .option('--limit <entries>', 'the most entries, 1 to 1000000', readLimit)
    .option('--after <key>', 'continue behind the entry with this key', readKey)
    .hook('preAction', (own) => {
      const { since, until } = own.opts<Options>();
      if (since && until && since > until) own.error('error: --since is later than --until');
    });
  return onAudit(command, async ({ context, institutionId, origin }, options: Options) => {
    const { after, limit = Number.POSITIVE_INFINITY } = options;
    const filter = filterOf(options, context);
    let found = 0;
    for await (const entry of searchAudit(context, institutionId, { filter, afterKey: after, origin })) {
      say(JSON.stringify(auditDocument(entry)));
      found += 1;
      if (found >= limit) break;
    }
    if (found === 0) process.stderr.write('No entry matches.\n');
  });
}

function filterOf(options: Options, { auth }: AppContext): AuditFilter {
  return {
    since: options.since,
    until: options.until,
    action: options.action,
    outcome: options.outcome,
    clientId: options.client,
    userId: options.user,
    operator: options.operator,
    subject: options.subject,
    nameHash: options.name === undefined ? undefined : auditedNameHash(auth.vault, options.name),
    network: options.address,
    transactionId: options.transaction,
  };
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

const readLimit = wholeNumber(1, 1_000_000, 'Must be a whole number from 1 to 1000000.');

function readKey(text: string): bigint {
  if (!/^[1-9][0-9]{0,17}$/.test(text)) throw new InvalidArgumentError('Must be the key of an entry.');
  return BigInt(text);
}
