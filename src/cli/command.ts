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

/** A command that could not do what was asked; one sentence for the person at the terminal. */
export class CommandFailed extends Error {
  override readonly name = 'CommandFailed';
}

/** As shells tell it of programs that know nothing of it. */
const endedBySigpipe = 141;

/** Whoever read what is said has left, as `head` does when it has enough: nothing more need be done. */
class Unheard extends Error {
  override readonly name = 'Unheard';
}

let unheard = false;

/**
 * Runs an operator's command on the configured database, beside a running service or without one. ServiceStartError under
 * another SECRET_KEY, unless the command is the one that helps then.
 */
export async function withStores(
  work: (context: AppContext, origin: CommandOrigin) => Promise<void>,
  { underAnySecretKey = false } = {},
): Promise<void> {
  process.stdout.on('error', () => {
    unheard = true;
  });
  process.stderr.on('error', () => {});
  const { config, secrets } = loadConfig(await readEnvironment());
  const origin = { transactionId: randomUUID(), address: null, operator: systemOperator(config) };
  const context = await openAppContext(config, secrets, 'borrow', () => {}, systemClock, origin);
  try {
    if (!underAnySecretKey) await refuseOtherSecretKey(context);
    await work(context, origin);
  } catch (error) {
    if (!(error instanceof Unheard)) throw error;
  } finally {
    await context.close();
    if (unheard) process.exitCode = endedBySigpipe;
  }
}

/** By its code or, where there is only one, that. */
export async function chooseInstitution(context: AppContext, code: string | undefined): Promise<Institution> {
  if (code !== undefined) {
    const institution = await context.database.directory((db) => findInstitutionByCode(db, code));
    if (institution === undefined) throw new CommandFailed(`There is no institution "${code}".`);
    return institution;
  }
  const all = await context.database.directory(listInstitutions);
  const [only, another] = all;
  if (only === undefined) throw new CommandFailed('There is no institution yet: import an extract first.');
  if (another !== undefined) {
    throw new CommandFailed(
      `Say which --institution: ${all.map((institution) => institution.code).join(', ')}.`,
    );
  }
  return only;
}

/** For acts that may need two persons: a demo has one person at one machine. */
export function asOption(): Option {
  return new Option(
    '--as <name>',
    'in a demo institution alone: act under this name; the audit marks it as a demo',
  ).argParser(readNameForPeople);
}

/** Throws CommandFailed for a typed name in an institution that is no demo. */
export function actingAs(
  origin: CommandOrigin,
  institution: Institution,
  as: string | undefined,
): CommandOrigin {
  if (as === undefined) return origin;
  if (!institution.demo) {
    throw new CommandFailed(
      `--as is for demo institutions. In ${institution.name} you act as the system user ${origin.operator.user}.`,
    );
  }
  return { ...origin, operator: { ...origin.operator, as } };
}

export function say(text: string): void {
  if (unheard) throw new Unheard();
  process.stdout.write(`${text}\n`);
}

/** Space separated, for an option. */
export function readScopes(text: string): Scope[] {
  return text.split(/\s+/).map((name) => {
    const scope = parseScope(name);
    if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${scopes.join(', ')}.`);
    return scope;
  });
}

/** A name for people, in one line of at most 128 characters: lists show it as it is. */
export function readNameForPeople(text: string): string {
  const name = text.trim();
  if (/^.{1,128}$/u.test(name) && isReadable(name)) return name;
  throw new InvalidArgumentError('A name of 1 to 128 characters, all of them visible and in one line.');
}
