import { Command, InvalidArgumentError } from 'commander';
import type { FeedEvent } from '../../feed/index.ts';
import { tailEvents } from '../../operators/index.ts';
import { formatMinor } from '../../transfers/index.ts';
import { type InstitutionOptions, onInstitution } from '../command.ts';
import { jsonOption, type OutputOptions, sayEach } from '../output.ts';

interface Options extends InstitutionOptions, OutputOptions {
  readonly from?: bigint;
  readonly follow?: true;
}

export function eventCommands(): Command[] {
  return [tail()];
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
