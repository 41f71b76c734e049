/** The fields of an error of PostgreSQL that name parts of the schema or of the server, and never hold a value. */
const namesOnly = ['code', 'statement', 'schema', 'table', 'column', 'constraint', 'routine'] as const;

/**
 * An error for the log. The message of a database's error may hold a whole row, so its fields that name things stand
 * for it: the statement, the SQLSTATE (appendix A of PostgreSQL's manual), the constraint.
 */
export function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return error === undefined ? undefined : String(error);
  const { cause } = error;
  if (!isDatabaseError(error)) {
    const code = 'code' in error ? error.code : undefined;
    // V8 quotes the text that it could not parse.
    const stack = error instanceof SyntaxError ? `SyntaxError ${framesOf(error)}` : error.stack;
    return { code, stack, cause: describeError(cause) };
  }
  const fields = error as unknown as Readonly<Record<string, string | undefined>>;
  const names = Object.fromEntries(namesOnly.map((name) => [name, fields[name]]));
  return { ...names, invariant: invariantOf(names), stack: framesOf(error), cause: describeError(cause) };
}

/** The failed statement behind an error. */
export interface DatabaseFailure {
  readonly sqlState: string;
  readonly statement: string | undefined;
}

/** Undefined if no error of the database caused it. */
export function databaseFailureOf(error: unknown): DatabaseFailure | undefined {
  if (!(error instanceof Error)) return undefined;
  if (!isDatabaseError(error)) return databaseFailureOf(error.cause);
  const { code, statement } = error as unknown as { readonly code: string; readonly statement?: string };
  return { sqlState: code, statement };
}

/** The name of the broken rule in docs/invariants.md: a code of our triggers, or a constraint (class 23 of SQLSTATE). */
function invariantOf({
  code = '',
  constraint,
}: Readonly<Record<string, string | undefined>>): string | undefined {
  if (code.startsWith('SD')) return code;
  return code.startsWith('23') ? constraint : undefined;
}

/** Recognized by its members, since only storage imports the driver. */
function isDatabaseError(error: Error): boolean {
  return 'severity' in error && 'code' in error;
}

/** The stack begins with the message. */
function framesOf({ stack = '', message }: Error): string {
  const start = stack.indexOf(message);
  return start === -1 ? '' : stack.slice(start + message.length).trimStart();
}
