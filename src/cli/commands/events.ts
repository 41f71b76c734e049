import { stat } from 'node:fs/promises';
import path from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import type { FeedEvent } from '../../feed/index.ts';
import { listAllInstitutions } from '../../institutions/index.ts';
import {
  archiveOldestEvents,
  EventsNeededError,
  leastEventDays,
  type Need,
  openArchiveDatabase,
  tailEvents,
} from '../../operators/index.ts';
import { sqlState, sqlStateOf } from '../../storage/index.ts';
import { formatMinor } from '../../transfers/index.ts';
import { wholeNumber } from '../arguments.ts';
import { withCell } from '../cell-sides.ts';
import { CommandError, type InstitutionOptions, onInstitution, say } from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayEach } from '../output.ts';

interface Options extends InstitutionOptions, OutputOptions {
  readonly from?: bigint;
  readonly follow?: true;
}

export function eventCommands(): Command[] {
  return [tail(), archive()];
}

interface ArchiveOptions extends ConfirmOptions {
  readonly to: string;
  readonly olderThan: number;
}

function archive(): Command {
  return new Command('archive')
    .description(
      'move old events, a whole partition at a time, out of the feed into files; may be repeated after an interruption',
    )
    .requiredOption('--to <folder>', 'folder of the files; keep it as long as the law asks')
    .option(
      '--older-than <days>',
      'only events that are all older',
      wholeNumber(leastEventDays, 36_500, `From ${leastEventDays} to 36500.`),
      400,
    )
    .addOption(yesOption())
    .action(async ({ to, olderThan: days, ...options }: ArchiveOptions) => {
      const folder = path.resolve(to);
      if (!(await stat(folder).catch(() => undefined))?.isDirectory())
        throw new CommandError(`There is no folder ${folder}.`);
      await confirm(
        `Events older than ${days} days leave the feed for good; ${folder} has them then.`,
        options,
      );
      await withCell(async ({ own: { url, db }, clock, origin }) => {
        const codes = new Map(
          (await listAllInstitutions(db)).map(({ institutionId, code }) => [institutionId, code]),
        );
        const database = openArchiveDatabase(url);
        const next = () =>
          archiveOldestEvents({ database, clock, origin }, { folder, days }).catch((error) => {
            if (error instanceof EventsNeededError) throw refusalOf(error.needs, codes);
            if (sqlStateOf(error) !== sqlState.insufficientPrivilege) throw error;
            throw new CommandError(
              'Only the owner of the database archives its events: set MIGRATION_DATABASE_URL.',
            );
          });
        try {
          let archived = await next();
          if (archived === undefined) say(`No partition has only events older than ${days} days.`);
          for (; archived !== undefined; archived = await next()) {
            say(`${archived.file}  ${archived.events} events  sha256 ${archived.sha256}`);
          }
        } finally {
          await database.close();
        }
      });
    });
}

const sentences: Readonly<Record<Need['need'], string>> = {
  full: 'the partition takes events.',
  young: 'an event is too young.',
  served: 'is moving to another cell, or its copy is kept: finish or confirm the move.',
  secret: 'a code waits for its delivery.',
  webhook: 'a webhook has not got the events: resume or remove',
  delivery: 'a webhook has parked or waiting events: replay them, or remove',
  alerts: 'alerts are not derived from the events: is the service running?',
  reconcile: 'reconcile has not found the events in order: run "sharedraft reconcile".',
};

function refusalOf(needs: readonly Need[], codes: ReadonlyMap<number, string>): CommandError {
  const lines = needs.map(
    ({ institution, need, endpoint }) =>
      `${codes.get(institution)}: ${sentences[need]}${endpoint === null ? '' : ` ${endpoint}.`}`,
  );
  return new CommandError(['Nothing was archived: the oldest events are still needed.', ...lines].join('\n'));
}

function tail(): Command {
  return onInstitution(
    new Command('tail')
      .description('show the last events of an institution; the audit records the read')
      .option('--from <sequence>', 'from this event on; default: the last ten', readSequence)
      .option('--follow', 'wait for further events, until Ctrl-C')
      .addOption(jsonOption()),
    async ({ context, institutionId, origin }, { from, follow, ...output }: Options) => {
      const events = tailEvents(context, institutionId, { from, follow: follow === true, origin });
      await sayEach(events, { text: describe, document: documentOf, none: 'There is no event yet.' }, output);
    },
  );
}

function documentOf({ eventId, sequence, kind, at, userId, transfer, accounts, data }: FeedEvent) {
  return {
    sequence,
    eventId,
    type: kind,
    at,
    userId,
    transfer: transfer && transferOf(transfer),
    accounts,
    data,
  };
}

function transferOf({ amountMinor, ...transfer }: NonNullable<FeedEvent['transfer']>) {
  return { ...transfer, amount: formatMinor(amountMinor, transfer.currencyCode) };
}

/** Without the data of the event, which may be personal. */
function describe({ sequence, at, kind, userId, transfer, accounts }: FeedEvent): string {
  const about =
    transfer === null
      ? [userId, ...accounts.map(({ accountId }) => accountId)]
      : [
          transfer.id,
          `${transfer.fromAccountId} -> ${transfer.toAccountId}`,
          `${formatMinor(transfer.amountMinor, transfer.currencyCode)} ${transfer.currencyCode}`,
        ];
  return [sequence, at.toISOString(), kind, ...about].filter((part) => part !== null).join('  ');
}

function readSequence(text: string): bigint {
  if (/^[1-9]\d{0,15}$/.test(text)) return BigInt(text);
  throw new InvalidArgumentError('A number from 1.');
}
