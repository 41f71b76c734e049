import { Command, Option } from 'commander';
import type { Restriction } from '../../../accounts/index.ts';
import { formatMinor } from '../../../ledger/index.ts';
import { closeAccount, restrictAccount, type ShownAccount, showAccount } from '../../../operators/index.ts';
import { readReason } from '../../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayOne } from '../../output.ts';

export function accountCommands(): Command[] {
  return [show(), freeze(), restrict(), unfreeze(), close()];
}

const accountId = ['<account-id>', 'id of the account in the core'] as const;

function show(): Command {
  return onInstitution(
    new Command('show')
      .description('show an account: balance, holds, restrictions, holders, pending transfers, last entries')
      .argument(...accountId)
      .addOption(jsonOption()),
    async ({ context, institutionId, origin }, options: InstitutionOptions & OutputOptions, id: string) => {
      const shown = await showAccount(context, institutionId, { accountId: id, origin });
      if (shown === undefined) throw noSuchAccount();
      sayAccount(shown, options);
    },
  );
}

const restrictionNames: Readonly<Record<Restriction, string>> = {
  EXCLUDE_ALL: 'no transfer',
  EXCLUDE_AS_FROM: 'no transfer from it',
  EXCLUDE_AS_TO: 'no transfer to it',
};

function sayAccount(account: ShownAccount, options: OutputOptions): void {
  const { currency, coreRestriction, operatorRestriction, holders, pending, entries } = account;
  const amount = (text: string | null) =>
    text === null || Number(text) === 0 ? null : `${text} ${currency}`;
  const name = (restriction: Restriction | null) => restriction && restrictionNames[restriction];
  sayOne(
    {
      document: { ...account },
      facts: [
        ['account', account.accountId],
        ['number', account.accountNumber],
        ['type', `${account.accountType} (${account.category})`],
        ['description', account.description],
        ['member number', account.memberNumber],
        ['state', account.closed ? (account.closedByOperator ? 'closed by an operator' : 'closed') : 'open'],
        ['delinquent', account.delinquent || null],
        ['the core excludes', name(coreRestriction)],
        ['an operator excludes', name(operatorRestriction)],
        ['balance', `${account.balance} ${currency}`],
        ['held out', amount(account.holdsOut)],
        ['held in', amount(account.holdsIn)],
        ['overdraft limit', amount(account.overdraftLimit)],
        ['credit limit', amount(account.creditLimit)],
        ['interest due', amount(account.interestDue)],
        ['fees due', amount(account.feesDue)],
        ['amount due', amount(account.amountDue)],
        ['due on', account.nextDueOn],
      ],
      parts: [
        {
          title: 'Holders',
          headings: ['person', 'name', 'role', 'may pay'],
          rows: holders.map((one) => [
            one.personId,
            `${one.firstName} ${one.lastName}`.trim(),
            one.role,
            one.mayPay,
          ]),
          none: 'none, so no member sees the account',
        },
        {
          title: 'Pending transfers',
          headings: ['transfer', 'from', 'to', 'amount', 'held for', 'when due', 'due'],
          rows: pending.map((one) => [
            ...[one.transferId, one.fromAccountId, one.toAccountId, one.amount],
            ...[one.heldFor, one.whenDue, one.dueAt.toISOString()],
          ]),
          none: 'none',
        },
        {
          title: 'Last entries',
          headings: ['entry', 'time', 'kind', 'amount', 'balance after', 'transfer'],
          rows: entries.map((one) => [
            one.entry,
            one.at,
            one.kind,
            one.amount,
            one.balanceAfter,
            one.transferId,
          ]),
          none: 'none',
        },
      ],
    },
    options,
  );
}

interface ActOptions extends InstitutionOptions, ConfirmOptions {
  readonly reason: string;
}

function withReason(command: Command): Command {
  return command.argument(...accountId).requiredOption('--reason <text>', 'why, for the audit', readReason);
}

function freeze(): Command {
  return onInstitution(
    withReason(new Command('freeze').description('let no transfer move money on the account')).addOption(
      yesOption(),
    ),
    async (run, options: ActOptions, id: string) => {
      await confirm(`${id}: no transfer moves money on it any more; pending ones fail.`, options);
      await changeRestriction(run, { id, restriction: 'EXCLUDE_ALL', reason: options.reason });
    },
  );
}

function restrict(): Command {
  return onInstitution(
    withReason(new Command('restrict').description('let no transfer pay from the account, or none into it'))
      .addOption(
        new Option('--side <side>', 'the excluded side').choices(['from', 'to']).makeOptionMandatory(),
      )
      .addOption(yesOption()),
    async (run, options: ActOptions & { readonly side: 'from' | 'to' }, id: string) => {
      const effect = options.side === 'from' ? 'pays from it' : 'pays into it';
      await confirm(`${id}: no transfer ${effect} any more; pending ones fail.`, options);
      const restriction = options.side === 'from' ? 'EXCLUDE_AS_FROM' : 'EXCLUDE_AS_TO';
      await changeRestriction(run, { id, restriction, reason: options.reason });
    },
  );
}

function unfreeze(): Command {
  return onInstitution(
    withReason(
      new Command('unfreeze').description("end an operator's freeze or restriction; the core's stays"),
    ),
    (run, { reason }: ActOptions, id: string) => changeRestriction(run, { id, restriction: null, reason }),
  );
}

async function changeRestriction(
  { context, institutionId, origin }: InstitutionRun,
  {
    id,
    restriction,
    reason,
  }: { readonly id: string; readonly restriction: Restriction | null; readonly reason: string },
): Promise<void> {
  const act = { accountId: id, restriction, statedReason: reason, origin };
  const { kind } = await restrictAccount(context, institutionId, act);
  const state = restriction === null ? 'has no restriction of an operator' : restrictionNames[restriction];
  switch (kind) {
    case 'unknown':
      throw noSuchAccount();
    case 'closed':
      throw new CommandError('The account is closed, so nothing moves on it.');
    case 'unchanged':
      return say(`${id} stands so already (${state}). Nothing was changed.`);
    default:
      return say(`${id}: ${state}.`);
  }
}

function close(): Command {
  return onInstitution(
    withReason(
      new Command('close').description(
        'close an account for good; its balance is zero and nothing is pending',
      ),
    ).addOption(yesOption()),
    async ({ context, institutionId, origin }, options: ActOptions, id: string) => {
      await confirm(`${id} is closed for good. It cannot be opened again.`, options);
      const act = { accountId: id, statedReason: options.reason, origin };
      const closing = await closeAccount(context, institutionId, act);
      switch (closing.kind) {
        case 'unknown':
          throw noSuchAccount();
        case 'kept_by_core':
          throw new CommandError('The core keeps the books of this institution: close the account there.');
        case 'not_empty': {
          const { currency, postedMinor, heldMinor, duesMinor } = closing;
          const text = (minor: bigint) => `${formatMinor(minor, currency)} ${currency}`;
          throw new CommandError(
            `The account is not empty: balance ${text(postedMinor)}, held ${text(heldMinor)}, due ${text(duesMinor)}. Pay it out or in, end its pending transfers, and close it then.`,
          );
        }
        case 'unchanged':
        case 'closed':
          return say(`${id} is closed already. Nothing was changed.`);
        default:
          return say(`${id} is closed.`);
      }
    },
  );
}

function noSuchAccount(): CommandError {
  return new CommandError('No account of a member has this id in this institution.');
}
