import { Option } from 'commander';
import type { CommandOrigin } from '../events/index.ts';
import { findOperator, listOperators, requireRight } from '../operators/index.ts';
import { Problem } from '../shared/problem.ts';
import { readReason } from './arguments.ts';
import { CommandError, type InstitutionRun } from './command.ts';
import { readKeptSession, sessionFile } from './kept-session.ts';

export interface DeciderOptions {
  readonly breakGlass?: string;
}

export function breakGlassOption(): Option {
  return new Option(
    '--break-glass <reason>',
    'act as the system user in an institution that has operators; the audit marks it',
  ).argParser(readReason);
}

/**
 * The person behind a decision on money. An institution that has operators wants the session of `sharedraft login`, which the database
 * verifies as for the console, or an open breach with its reason. A demo, and an institution without operators, know the system user only.
 */
export async function deciderOf(
  { context, institution, institutionId, origin }: InstitutionRun,
  { breakGlass }: DeciderOptions,
  file = sessionFile(),
): Promise<CommandOrigin> {
  const operators = await listOperators(context, institutionId);
  const hasOperators = operators.some(({ source, status }) => source !== 'DEMO' && status === 'ACTIVE');
  if (breakGlass !== undefined) {
    const operator = { ...origin.operator, ...(hasOperators && { isBreakGlass: true as const }) };
    return { ...origin, operator, statedReason: breakGlass };
  }
  if (!hasOperators) return origin;
  const kept = await readKeptSession(file);
  if (kept === undefined) {
    throw new CommandError(
      `${institution.name} has operators. Sign in with \`sharedraft login\`, or act with --break-glass <reason>.`,
    );
  }
  try {
    const operator = await findOperator(context, kept.token);
    if (operator.institutionId !== institutionId)
      throw new CommandError(`You are signed in at ${kept.institution}. Sign in at ${institution.code}.`);
    requireRight(operator, 'transfers:decide', context.clock());
    const { name: user, operatorId } = operator;
    const { host } = origin.operator;
    return { ...origin, operator: { user, operatorId, ...(host !== undefined && { host }) } };
  } catch (error) {
    throw error instanceof Problem ? new CommandError(`${error.detail} Use \`sharedraft login\`.`) : error;
  }
}
