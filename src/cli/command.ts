import { randomUUID } from 'node:crypto';
import { InvalidArgumentError, Option } from 'commander';
import { loadConfig, readEnvironment } from '../app/config.ts';
import { type AppContext, openAppContext } from '../app/context.ts';
import { refuseOtherSecretKey } from '../app/start-checks.ts';
import { parseScope, type Scope, scopes } from '../auth/index.ts';
import type { CommandOrigin } from '../events/index.ts';
import { findInstitutionByCode, type Institution, listInstitutions } from '../institutions/index.ts';
import { isReadable } from '../shared/readable-text.ts';
import { systemClock } from '../storage/index.ts';
import { systemOperator } from './operator.ts';

/** A failed command. The message is one sentence for the person at the terminal. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
}

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

/** The institution with this code, or without a code the only one. */
export async function chooseInstitution(context: AppContext, code: string | undefined): Promise<Institution> {
  if (code !== undefined) {
    const institution = await context.database.directory((db) => findInstitutionByCode(db, code));
    if (institution === undefined) throw new CommandError(`The institution "${code}" does not exist.`);
    return institution;
  }
  const all = await context.database.directory(listInstitutions);
  const [only, another] = all;
  if (only === undefined) throw new CommandError('There is no institution yet: import an extract first.');
  if (another !== undefined) {
    throw new CommandError(
      `Choose one with --institution: ${all.map((institution) => institution.code).join(', ')}.`,
    );
  }
  return only;
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

/** The scopes of an option, separated by spaces. */
export function readScopes(text: string): Scope[] {
  return text.split(/\s+/).map((name) => {
    const scope = parseScope(name);
    if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${scopes.join(', ')}.`);
    return scope;
  });
}

/** A name for people, in one line of at most 128 characters, since lists show it unchanged. */
export function readNameForPeople(text: string): string {
  const name = text.trim();
  if (/^.{1,128}$/u.test(name) && isReadable(name)) return name;
  throw new InvalidArgumentError('Must have 1 to 128 characters, all of them visible and in one line.');
}
