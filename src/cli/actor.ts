import type { AppContext } from '../app/context.ts';
import type { CommandOrigin } from '../events/index.ts';
import type { Institution } from '../institutions/index.ts';
import { findOperator, listOperators, type Right, requireRight } from '../operators/index.ts';
import { Problem } from '../shared/problem.ts';
import { CommandError } from './command-error.ts';
import { readKeptSession, sessionFile } from './kept-session.ts';

interface Act {
  readonly institution: Institution;
  /** The system user who runs the command. */
  readonly origin: CommandOrigin;
  readonly right: Right;
  readonly breakGlass: string | undefined;
}

/**
 * The person behind an act. An institution that has operators wants the session of `sharedraft login`, which the database verifies as for the
 * console, or a broken glass with its reason. A demo, and an institution without operators, know the system user only.
 */
export async function actorOf(
  context: AppContext,
  { institution, origin, right, breakGlass }: Act,
): Promise<CommandOrigin> {
  const { institutionId, name, code } = institution;
  const operators = await listOperators(context, institutionId);
  const hasOperators = operators.some(({ source, status }) => source !== 'DEMO' && status === 'ACTIVE');
  if (breakGlass !== undefined) {
    const operator = { ...origin.operator, ...(hasOperators && { isBreakGlass: true as const }) };
    return { ...origin, operator, statedReason: breakGlass };
  }
  if (!hasOperators) return origin;
  const kept = await readKeptSession(sessionFile());
  if (kept === undefined) {
    throw new CommandError(
      `${name} has operators. Sign in with \`sharedraft login\`, or act with --break-glass <reason>.`,
    );
  }
  try {
    const operator = await findOperator(context, kept.token);
    if (operator.institutionId !== institutionId)
      throw new CommandError(`You are signed in at ${kept.institution}. Sign in at ${code}.`);
    requireRight(operator, right, context.clock());
    const { name: user, operatorId } = operator;
    const { host } = origin.operator;
    return { ...origin, operator: { user, operatorId, ...(host !== undefined && { host }) } };
  } catch (error) {
    throw error instanceof Problem ? new CommandError(`${error.detail} Use \`sharedraft login\`.`) : error;
  }
}
