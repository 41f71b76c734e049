import { Command, Option } from 'commander';
import { formatMinor } from '../../ledger/index.ts';
import { tryScreening } from '../../operators/index.ts';
import {
  findScreening,
  type HookSettings,
  removeScreening,
  rotateScreeningSecret,
  Screener,
  setScreening,
} from '../../screening/index.ts';
import { Problem } from '../../shared/problem.ts';
import { type Verdict, verdicts } from '../../transfers/index.ts';
import { matching, wholeNumber } from '../arguments.ts';
import {
  CommandError,
  type InstitutionOptions,
  type InstitutionRun,
  onInstitution,
  say,
} from '../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../confirm.ts';
import { jsonOption, type OutputOptions, sayOne } from '../output.ts';
import { minorOf, readAmount } from './institution/settings.ts';

export function screeningCommands(): Command[] {
  return [show(), set(), rotate(), off(), test()];
}

/** CommandError for a problem. */
async function orCommandError(act: Promise<void>): Promise<void> {
  try {
    await act;
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    const [part] = error.errors ?? [];
    throw new CommandError(part === undefined ? error.detail : `${part.pointer.slice(1)}: ${part.detail}`);
  }
}

function show(): Command {
  return onInstitution(
    new Command('show')
      .description('show where orders are screened, and by which rules')
      .addOption(jsonOption()),
    async ({ context, institution, institutionId }, options: InstitutionOptions & OutputOptions) => {
      const hook = await findScreening(context, institutionId);
      if (hook === undefined) return say(options.json ? 'null' : 'The institution screens no orders.');
      const { url, fromMinor, timeoutMillis, onSilence, holdSeconds } = hook;
      const from = `${formatMinor(fromMinor, institution.currency)} ${institution.currency}`;
      sayOne(
        {
          document: { url, from, timeoutMillis, onSilence, holdSeconds },
          facts: [
            ['address', url],
            ['orders from', from],
            ['time limit', `${timeoutMillis} ms`],
            ['without an answer', onSilence.toLowerCase()],
            ['a hold expires after', `${holdSeconds} s`],
          ],
        },
        options,
      );
    },
  );
}

interface SettingOptions {
  readonly url?: string;
  readonly from?: string;
  readonly timeout?: number;
  readonly onSilence?: string;
  readonly hold?: number;
}

const defaults = { fromMinor: 0n, timeoutMillis: 1_000, onSilence: 'HOLD', holdSeconds: 86_400 } as const;

function set(): Command {
  return onInstitution(
    new Command('set')
      .description('screen orders at an address before they are decided; prints a new secret, once')
      .option('--url <url>', 'https; the address may be inside your network', readUrl)
      .option('--from <amount>', "only orders from this amount on, in the institution's currency", readAmount)
      .option('--timeout <ms>', 'the time for an answer', wholeNumber(50, 5_000, 'From 50 to 5000.'))
      .addOption(
        new Option('--on-silence <verdict>', 'the verdict on an order without an answer').choices(
          verdicts.map((verdict) => verdict.toLowerCase()),
        ),
      )
      .option(
        '--hold <seconds>',
        'an order that is held expires after this time',
        wholeNumber(60, 2_592_000, 'From 60 to 2592000.'),
      ),
    ({ context, institution, institutionId, origin }, options: InstitutionOptions & SettingOptions) =>
      orCommandError(
        (async () => {
          const before = await findScreening(context, institutionId);
          const url = options.url ?? before?.url;
          if (url === undefined) throw new CommandError('Name the address with --url.');
          const settings: HookSettings = {
            url,
            fromMinor: minorOf(options.from, institution.currency) ?? before?.fromMinor ?? defaults.fromMinor,
            timeoutMillis: options.timeout ?? before?.timeoutMillis ?? defaults.timeoutMillis,
            onSilence: verdictOf(options.onSilence) ?? before?.onSilence ?? defaults.onSilence,
            holdSeconds: options.hold ?? before?.holdSeconds ?? defaults.holdSeconds,
          };
          const { secret } = await setScreening(context.webhooks, institutionId, { settings, origin });
          if (secret !== undefined) say(`secret: ${secret}`);
        })(),
      ),
  );
}

function verdictOf(word: string | undefined): Verdict | undefined {
  return verdicts.find((verdict) => verdict.toLowerCase() === word);
}

function rotate(): Command {
  return onInstitution(
    new Command('rotate')
      .description('make a new secret; prints it, once')
      .option(
        '--overlap <hours>',
        'hours for which the one before signs as well',
        wholeNumber(0, 720, 'From 0 to 720.'),
        24,
      ),
    (
      { context, institutionId, origin },
      { overlap: overlapHours }: InstitutionOptions & { readonly overlap: number },
    ) =>
      orCommandError(
        (async () => {
          const { secret } = await rotateScreeningSecret(context.webhooks, institutionId, {
            overlapHours,
            origin,
          });
          say(`secret: ${secret}`);
        })(),
      ),
  );
}

function off(): Command {
  return onInstitution(
    new Command('off').description('screen no orders').addOption(yesOption()),
    async ({ context, institution, institutionId, origin }, options: InstitutionOptions & ConfirmOptions) => {
      await confirm(`Orders of ${institution.name} are decided without screening.`, options);
      await orCommandError(removeScreening(context.webhooks, institutionId, origin));
    },
  );
}

function test(): Command {
  return onInstitution(
    new Command('test').description('ask for the verdict on an invented order and show the answer'),
    async (run: InstitutionRun) => {
      const { context, institutionId, origin } = run;
      const screener = new Screener({ ...context.webhooks, log: () => {} });
      try {
        const tried = await tryScreening({ ...context, screener }, institutionId, origin);
        if (tried === undefined) throw new CommandError('The institution screens no orders.');
        if ('error' in tried) {
          process.exitCode = 1;
          return say(`no answer: ${tried.error}, ${tried.millis} ms`);
        }
        const { verdict, reference, millis } = tried;
        say(`${verdict.toLowerCase()}${reference ? ` (${reference})` : ''}, ${millis} ms`);
      } finally {
        screener.close();
      }
    },
  );
}

const readUrl = matching(/^https?:\/\/[!-~]{1,2040}$/, 'A URL that begins with https://.');
