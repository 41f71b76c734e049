import { Command, Option } from 'commander';
import { type LimitsOf, limitDocument, showLimits } from '../../operators/index.ts';
import { formatMinor, type ShownLimit } from '../../transfers/index.ts';
import { CommandError, type InstitutionOptions, onInstitution } from '../command.ts';
import { jsonOption, type OutputOptions, sayList } from '../output.ts';

interface Options extends InstitutionOptions, OutputOptions {
  readonly account?: string;
  readonly user?: string;
}

export function limitCommands(): Command[] {
  return [show()];
}

function show(): Command {
  return onInstitution(
    new Command('show')
      .description(
        'show the limits of an account or a member with what is used of them; without an option those of the institution',
      )
      .option('--account <account-id>', 'of the account and its membership')
      .addOption(new Option('--user <user-id>', 'of the user and the memberships').conflicts('account'))
      .addOption(jsonOption()),
    async ({ context, institution, institutionId, origin }, { account, user, ...output }: Options) => {
      const now = context.businessTime(institutionId, context.clock());
      const asked = { of: limitsOf(account, user), now, timeZone: institution.timeZone, origin };
      const limits = await showLimits(context, institutionId, asked);
      if (limits === undefined)
        throw new CommandError(
          'No account or user of this institution has this id. `sharedraft member find` finds it.',
        );
      await sayLimits(limits, output);
    },
  );
}

function limitsOf(accountId: string | undefined, userId: string | undefined): LimitsOf {
  if (accountId !== undefined) return { accountId };
  return userId === undefined ? { whole: true } : { userId };
}

async function sayLimits(limits: readonly ShownLimit[], output: OutputOptions): Promise<void> {
  await sayList(
    limits,
    {
      columns: {
        limit: (row) => row.limitKey,
        of: (row) => [row.subject, row.subjectId].filter(Boolean).join(' '),
        period: (row) => row.period,
        'counts only': (row) => [row.transferType, row.sourceType].filter(Boolean).join(' from '),
        used: (row) =>
          `${formatMinor(row.usedMinor, row.currency)} of ${amountOf(row, row.maxAmount) ?? 'any'} ${row.currency}`,
        transfers: (row) => `${row.transfers} of ${row.maxCount ?? 'any'}`,
        'most at once': (row) => amountOf(row, row.maxPerTransfer),
        'reviewed above': (row) => amountOf(row, row.reviewAbove),
        resets: (row) => row.resetsAt,
      },
      document: limitDocument,
      none: 'No limit applies.',
    },
    output,
  );
}

function amountOf({ currency }: ShownLimit, minor: bigint | null): string | null {
  return minor === null ? null : formatMinor(minor, currency);
}
