import { randomUUID } from 'node:crypto';
import { type Command, Option } from 'commander';
import { loadConfig, readEnvironment } from '../app/config.ts';
import { type AppContext, openAppContext } from '../app/context.ts';
import { refuseOtherSecretKey } from '../app/start-checks.ts';
import type { CommandOrigin } from '../events/index.ts';
import type { Institution } from '../institutions/index.ts';
import { type InstitutionId, systemClock } from '../storage/index.ts';
import { actorOf } from './actor.ts';
import { type ActOptions, rightOf } from './acts.ts';
import { readNameForPeople } from './arguments.ts';
import { chooseInstitution } from './chosen-institution.ts';
import { CommandError } from './command-error.ts';
import { systemOperator } from './operator.ts';

export { CommandError };

/** The status that shells report for a program that SIGPIPE ended. */
const endedBySigpipe = 141;

/** The reader of standard output has left, as `head` does, so the command can stop. */
class OutputClosedError extends Error {
  override readonly name = 'OutputClosedError';
}

let isOutputClosed = false;

/**
 * Runs an operator's command on the configured database, with or without a running service. Throws ServiceStartError if
 * SECRET_KEY is not that of the database, unless the command repairs that.
 */
export async function withContext(
  work: (context: AppContext, origin: CommandOrigin) => Promise<void>,
  { underAnySecretKey = false } = {},
): Promise<void> {
  process.stdout.on('error', () => {
    isOutputClosed = true;
  });
  process.stderr.on('error', () => {});
  const { config, secrets } = loadConfig(await readEnvironment());
  const origin = { transactionId: randomUUID(), address: null, operator: systemOperator(config) };
  const context = await openAppContext(config, secrets, 'borrow', () => {}, systemClock, origin);
  try {
    if (!underAnySecretKey) await refuseOtherSecretKey(context);
    await work(context, origin);
  } catch (error) {
    if (!(error instanceof OutputClosedError)) throw error;
  } finally {
    await context.close();
    if (isOutputClosed) process.exitCode = endedBySigpipe;
  }
}

export const institutionOption = ['--institution <code>', 'code of the institution'] as const;

export interface InstitutionOptions {
  readonly institution?: string;
}

/** A command that runs, with the institution that it is for. */
export interface InstitutionRun {
  readonly context: AppContext;
  readonly auth: AppContext['auth'];
  /** For an act of the table in acts.ts the signed-in operator, if the institution has operators. */
  readonly origin: CommandOrigin;
  readonly institution: Institution;
  readonly institutionId: InstitutionId;
}

/** Runs an operator's command for one institution that this cell serves: that of the option --institution, if nothing else names it. */
export function withInstitution(
  command: Command,
  work: (run: InstitutionRun) => Promise<void>,
  code = command.opts<InstitutionOptions>().institution,
): Promise<void> {
  return withContext(async (context, origin) => {
    const institution = await chooseInstitution(context, code);
    const { institutionId } = institution;
    const by = await originOf(command, { context, institution, origin });
    await work({ context, auth: context.auth, origin: by, institution, institutionId });
  });
}

/** The person behind a command: whoever acts.ts asks for, or the system user. */
export async function originOf(
  command: Command,
  run: Pick<InstitutionRun, 'context' | 'institution' | 'origin'>,
): Promise<CommandOrigin> {
  const right = rightOf(command);
  if (right === undefined) return run.origin;
  const { breakGlass } = command.opts<ActOptions>();
  return actorOf(run.context, { ...run, right, breakGlass });
}

/** Gives a command the option --institution and its work, which gets the command's options and then its arguments. */
export function onInstitution<Options extends InstitutionOptions, Arguments extends readonly unknown[]>(
  command: Command,
  work: (run: InstitutionRun, options: Options, ...given: Arguments) => Promise<void>,
): Command {
  return command.option(...institutionOption).action((...given: unknown[]) => {
    const [options] = given.splice(-2) as [Options, Command];
    return withInstitution(command, (run) => work(run, options, ...(given as unknown as Arguments)));
  });
}

/** For acts under dual control: a demo has one person at one machine. */
export function asOption(): Option {
  return new Option(
    '--as <name>',
    'only in a demo institution: act under this name; the audit marks it as a demo',
  ).argParser(readNameForPeople);
}

/** Throws CommandError for a typed name, unless the institution is a demo. */
export function actingAs(
  origin: CommandOrigin,
  institution: Institution,
  as: string | undefined,
): CommandOrigin {
  if (as === undefined) return origin;
  if (!institution.demo) {
    throw new CommandError(
      `--as is for demo institutions. In ${institution.name} you act as the system user ${origin.operator.user}.`,
    );
  }
  return { ...origin, operator: { ...origin.operator, as } };
}

export function say(text: string): void {
  if (isOutputClosed) throw new OutputClosedError();
  process.stdout.write(`${text}\n`);
}
