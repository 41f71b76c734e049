import { type Command, Option } from 'commander';
import { isTimeZone, type Settings } from '../../../institutions/index.ts';
import { currencyDecimals } from '../../../ledger/index.ts';
import { defined } from '../../../shared/defined.ts';
import { accepting, readNameForPeople, wholeNumber } from '../../arguments.ts';
import { CommandError } from '../../command.ts';

/** The options of `create` and `settings`, by the names of docs/operations.md. */
export interface SettingOptions {
  readonly name?: string;
  readonly timeZone?: string;
  readonly enrollment?: 'closed' | 'open';
  readonly openingDeposit?: string;
  readonly openingsPerDay?: number;
  readonly openingDepositsPerDay?: string;
  readonly passwordMinLength?: number;
  readonly contactChangeMaxAge?: number;
  readonly transferStepUpMaxAge?: number;
  readonly transferStepUpAbove?: string;
  readonly transferStepUpNewDestination?: 'yes' | 'no';
  readonly transferStepUpPasskey?: 'yes' | 'no';
  readonly registrationBirthDate?: 'yes' | 'no';
  /** False: none any more. Of `settings` only. */
  readonly host?: string | false;
  readonly brandColor?: string | false;
  /** A file. */
  readonly logo?: string | false;
}

export const readAmount = accepting(
  (text) => /^[0-9]{1,13}(\.[0-9]{1,4})?$/.test(text),
  'An amount like 500.00.',
);

export function withSettings(command: Command): Command {
  return command
    .option('--name <name>', 'its name for people', readNameForPeople)
    .option(
      '--time-zone <zone>',
      'an IANA time zone like America/New_York; determines its days',
      accepting(isTimeZone, 'An IANA time zone like America/New_York.'),
    )
    .addOption(
      new Option(
        '--enrollment <kind>',
        'closed: only members that the core knows may register; open: an unknown number opens a membership',
      ).choices(['closed', 'open']),
    )
    .option('--opening-deposit <amount>', 'paid into a membership that registration opens', readAmount)
    .option(
      '--openings-per-day <count>',
      'the most memberships that registration opens in a day',
      wholeNumber(0, 10_000_000, 'From 0 to 10000000.'),
    )
    .option('--opening-deposits-per-day <amount>', 'the most opening deposits in a day', readAmount)
    .option(
      '--password-min-length <characters>',
      'the least length of a password, from 8 to 128',
      wholeNumber(8, 128, 'From 8 to 128.'),
    )
    .option(
      '--contact-change-max-age <seconds>',
      'a member changes contact data this long after a sign-in; 0: in any session',
      wholeNumber(0, 2_592_000, 'From 0 to 2592000.'),
    )
    .option(
      '--transfer-step-up-max-age <seconds>',
      'a transfer that needs a recent sign-in needs one not older than this; 0: none needs one',
      wholeNumber(0, 2_592_000, 'From 0 to 2592000.'),
    )
    .option(
      '--transfer-step-up-above <amount>',
      'transfers above this amount need a recent sign-in',
      readAmount,
    )
    .addOption(
      yesOrNo(
        '--transfer-step-up-new-destination <answer>',
        'so do transfers to an account that the membership has not paid in 400 days',
      ),
    )
    .addOption(
      yesOrNo('--transfer-step-up-passkey <answer>', 'the recent sign-in must be one with a passkey'),
    )
    .addOption(
      new Option(
        '--registration-birth-date <answer>',
        'registration requires the birth date if the core has no e-mail address',
      ).choices(['yes', 'no']),
    );
}

function yesOrNo(name: string, description: string): Option {
  return new Option(name, description).choices(['yes', 'no']);
}

function isYes(answer: 'yes' | 'no' | undefined): boolean | undefined {
  return answer && answer === 'yes';
}

/** Throws CommandError for an amount with more decimals than the currency has. */
export function readSettings(options: SettingOptions, currency: string): Partial<Settings> {
  const { name, timeZone, enrollment, passwordMinLength } = options;
  return defined({
    name,
    timeZone,
    enrollment,
    passwordMinLength,
    openingDepositMinor: minorOf(options.openingDeposit, currency),
    contactChangeMaxAgeSeconds: options.contactChangeMaxAge,
    transferStepUpMaxAgeSeconds: options.transferStepUpMaxAge,
    transferStepUpAboveMinor: minorOf(options.transferStepUpAbove, currency),
    transferStepUpNewDestination: isYes(options.transferStepUpNewDestination),
    transferStepUpPasskey: isYes(options.transferStepUpPasskey),
    registrationBirthDate: isYes(options.registrationBirthDate),
    host: orNone(options.host),
    brandColor: orNone(options.brandColor),
    openingsPerDay: options.openingsPerDay,
    openingDepositsPerDayMinor: minorOf(options.openingDepositsPerDay, currency),
  });
}

function orNone(given: string | false | undefined): string | null | undefined {
  return given === false ? null : given;
}

/** Throws CommandError for an amount with more decimals than the currency has. */
export function minorOf(amount: string | undefined, currency: string): bigint | undefined {
  if (amount === undefined) return undefined;
  const [integer = '', fraction = ''] = amount.split('.');
  const decimals = currencyDecimals(currency) ?? 0;
  if (fraction.length > decimals)
    throw new CommandError(`An amount in ${currency} has at most ${decimals} decimals.`);
  return BigInt(integer + fraction.padEnd(decimals, '0'));
}
