import { readFile } from 'node:fs/promises';
import { Command, InvalidArgumentError } from 'commander';
import { countPasskeys } from '../../../auth/index.ts';
import {
  type Institution,
  listAllInstitutions,
  readColor,
  readHostName,
  type Settings,
  settingsOf,
} from '../../../institutions/index.ts';
import { changeInstitution, institutionDocument, settingsDocument } from '../../../operators/index.ts';
import { Problem } from '../../../shared/problem.ts';
import type { ActOptions } from '../../acts.ts';
import { readReason } from '../../arguments.ts';
import { CommandError, type InstitutionRun, say, withContext, withInstitution } from '../../command.ts';
import { type ConfirmOptions, confirm, yesOption } from '../../confirm.ts';
import { jsonOption, type OutputOptions, sayList, sayOne } from '../../output.ts';
import { calendar } from './calendar.ts';
import { create } from './create.ts';
import { move } from './move.ts';
import { operatorsProvider } from './operators-provider.ts';
import { readSettings, type SettingOptions, withSettings } from './settings.ts';

export function institutionCommands(): Command[] {
  return [list(), create(), show(), settings(), calendar(), operatorsProvider(), move()];
}

function list(): Command {
  return new Command('list')
    .description('list the institutions of the database')
    .addOption(jsonOption())
    .action((options: OutputOptions) =>
      withContext(async ({ database }) => {
        await sayList(
          await database.directory(listAllInstitutions),
          {
            columns: {
              code: (row) => row.code,
              name: (row) => row.name,
              currency: (row) => row.currency,
              'time zone': (row) => row.timeZone,
              enrollment: (row) => row.enrollment,
              record: (row) => row.record,
              demo: (row) => row.demo,
              host: (row) => row.host,
              served: ({ served, otherCell }) => (otherCell === null ? served : `${served} (${otherCell})`),
            },
            document: institutionDocument,
            none: 'There is no institution yet. Create one with `sharedraft institution create`, or import an extract.',
          },
          options,
        );
      }),
    );
}

const code = ['[code]', 'code of the institution; not needed if there is only one'] as const;

function show(): Command {
  return new Command('show')
    .description('show an institution with its settings')
    .argument(...code)
    .addOption(jsonOption())
    .action((institution: string | undefined, options: OutputOptions, command: Command) =>
      withInstitution(command, async (run) => sayInstitution(run.institution, options), institution),
    );
}

function sayInstitution(institution: Institution, options: OutputOptions): void {
  const { currency } = institution;
  const document = institutionDocument(institution);
  const shown = settingsDocument(settingsOf(institution), currency);
  const facts = [
    ['code', institution.code],
    ['currency', currency],
    ['books', institution.record === 'core' ? 'kept by the core' : 'kept by this ledger'],
    ['demo', institution.demo],
    ...Object.entries(labels).map(([name, label]) => [label, shown[name]] as const),
  ] as const;
  sayOne({ document, facts: facts as Parameters<typeof sayOne>[0]['facts'] }, options);
}

/** The names of the settings for people are those of the options. */
const labels: Readonly<Record<string, string>> = {
  name: 'name',
  timeZone: 'time-zone',
  enrollment: 'enrollment',
  openingDeposit: 'opening-deposit',
  openingsPerDay: 'openings-per-day',
  openingDepositsPerDay: 'opening-deposits-per-day',
  passwordMinLength: 'password-min-length',
  contactChangeMaxAgeSeconds: 'contact-change-max-age',
  transferStepUpMaxAgeSeconds: 'transfer-step-up-max-age',
  transferStepUpAbove: 'transfer-step-up-above',
  transferStepUpNewDestination: 'transfer-step-up-new-destination',
  transferStepUpPasskey: 'transfer-step-up-passkey',
  registrationBirthDate: 'registration-birth-date',
  host: 'host',
  brandColor: 'brand-color',
  logoHash: 'logo',
};

interface ChangeOptions extends SettingOptions, OutputOptions, ConfirmOptions, ActOptions {
  readonly reason?: string;
}

function settings(): Command {
  return withSettings(
    new Command('settings')
      .alias('set')
      .description('change the settings of an institution; options that are left out change nothing')
      .argument(...code)
      .option(
        '--host <name>',
        'the host name of its own, where it is an issuer of its own (docs/tokens.md)',
        readHost,
      )
      .option('--no-host', 'it is found at PUBLIC_URL only')
      .option(
        '--brand-color <color>',
        'the color of the pages on which members sign in, like #0b5d4a; white is read on it',
        readBrandColor,
      )
      .option('--no-brand-color', 'the color of the service')
      .option('--logo <file>', 'a PNG of at most 32 KiB, in place of the name on these pages')
      .option('--no-logo', 'the name')
      .addOption(yesOption())
      .option('--reason <text>', 'why, for the audit', readReason)
      .addOption(jsonOption()),
  ).action((institution: string | undefined, options: ChangeOptions, command: Command) => {
    const { reason: statedReason, breakGlass: _breakGlass, json, yes, ...given } = options;
    if (Object.keys(given).length === 0) command.error('error: name at least one setting to change');
    return withInstitution(
      command,
      (run) => change(run, { given, statedReason, json, ...(yes && { yes }) }),
      institution,
    );
  });
}

function readBrandColor(given: string): string {
  const color = readColor(given);
  if (color === undefined) throw new InvalidArgumentError('A color like #0b5d4a.');
  return color;
}

/** Throws CommandError for a file that cannot be read. */
async function readLogo(file: string | false | undefined): Promise<Uint8Array | null | undefined> {
  if (typeof file !== 'string') return file === false ? null : undefined;
  return readFile(file).catch((error) => {
    throw new CommandError(`The logo cannot be read: ${error.message}`);
  });
}

function readHost(given: string): string {
  const name = readHostName(given);
  if (name === undefined) throw new InvalidArgumentError('A DNS name like bank.example, without a port.');
  return name;
}

/** A change of the host name concerns members and apps, so its effects are confirmed. */
async function confirmHost(
  { context: { auth, database }, institution, institutionId }: InstitutionRun,
  host: string | null | undefined,
  options: ConfirmOptions,
): Promise<void> {
  if (host === undefined || host === institution.host) return;
  const passkeys = await database.read(institutionId, countPasskeys);
  const [before, now] = [institution.host, host].map((name) =>
    name === null ? auth.issuer : `https://${name}`,
  );
  const leaving =
    institution.host === null
      ? `Nothing ends at ${before}, which goes on for apps that use it.`
      : `Tokens, refresh tokens and sessions of ${before} are refused from now on.`;
  const effect =
    `${institution.code} is at ${now} from the next request on, an issuer of its own. ${leaving} Tokens of one issuer are refused ` +
    `at another, and so are passkeys: they work at the host name at which they were made. Members of ${institution.code} have ` +
    `${passkeys}; who has one of another name only signs in by password at ${now} and adds one there.`;
  await confirm(effect, options);
}

async function change(
  run: InstitutionRun,
  {
    given,
    statedReason,
    json,
    ...confirmed
  }: { given: SettingOptions; statedReason: string | undefined; json: true | undefined } & ConfirmOptions,
): Promise<void> {
  const { context, institution, institutionId, origin } = run;
  const { code: name, currency } = institution;
  const logo = await readLogo(given.logo);
  const wanted = { settings: readSettings(given, currency), logo, statedReason, origin };
  await confirmHost(run, wanted.settings.host, confirmed);
  const { before, after } = await changeInstitution(context, institutionId, wanted).catch((error) => {
    throw error instanceof Problem ? new CommandError(error.detail) : error;
  });
  const shown = (some: Partial<Settings>) => settingsDocument(some, currency);
  const [old, now] = [shown(before), shown(after)];
  if (json) {
    sayOne({ document: { code: name, before: old, after: now }, facts: [] }, { json });
    return;
  }
  const lines = Object.keys(now).map(
    (one) => `  ${labels[one]}: ${text(old[one])} becomes ${text(now[one])}`,
  );
  say(
    lines.length === 0
      ? `${name} has these settings already. Nothing was changed.`
      : `${name}:\n${lines.join('\n')}`,
  );
}

function text(value: unknown): string {
  if (value === null) return 'none';
  return typeof value === 'boolean' ? (value ? 'yes' : 'no') : String(value);
}
