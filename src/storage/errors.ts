import pg from 'pg';
import { Problem } from '../shared/problem.ts';
import type { InstitutionId } from './statement.ts';

/** PostgreSQL's error codes that the service handles (appendix A of its manual). */
export const sqlState = {
  uniqueViolation: '23505',
  exclusionViolation: '23P01',
  deadlockDetected: '40P01',
  lockNotAvailable: '55P03',
  inFailedTransaction: '25P02',
  insufficientPrivilege: '42501',
  duplicateObject: '42710',
  undefinedColumn: '42703',
  undefinedTable: '42P01',
  /** Of check_fence(). */
  institutionMoving: 'SD150',
  institutionElsewhere: 'SD151',
} as const;

/** The SQLSTATE of an error response of the server; undefined for other errors. */
export function sqlStateOf(error: unknown): string | undefined {
  return error instanceof pg.DatabaseError ? error.code : undefined;
}

export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  return (
    error instanceof pg.DatabaseError &&
    error.code === sqlState.uniqueViolation &&
    (constraint === undefined || error.constraint === constraint)
  );
}

export function isExclusionViolation(error: unknown, constraint: string): boolean {
  return (
    sqlStateOf(error) === sqlState.exclusionViolation && (error as pg.DatabaseError).constraint === constraint
  );
}

/**
 * Whether an error says that the connection, rather than the statement, failed: the server went away (class 57P,
 * 08), is full (53300), cannot write (53100 disk full, 58030 I/O, 25006 read-only), or never answered.
 */
export function isConnectionLoss(error: unknown): boolean {
  const state = sqlStateOf(error);
  if (state !== undefined) {
    return /^(08|57P0[1-5]|53300|53100|58030|25006)/.test(state);
  }
  if (!(error instanceof Error)) return false;
  const code = (error as NodeJS.ErrnoException).code;
  if (
    code !== undefined &&
    /^(ECONN|EPIPE|EPROTO|ENOENT|ENOTFOUND|ENOTCONN|ENOBUFS|EAI_AGAIN|ETIMEDOUT|EACCES|EHOST|ENET|ERR_SSL_|ERR_STREAM_)/.test(
      code,
    )
  ) {
    return true;
  }
  return /Connection terminated|connection error|timeout exceeded when trying to connect|timeout expired|Client was closed|Query read timeout|Connection ended/i.test(
    error.message,
  );
}

/** The database cannot be reached, and nothing was or will be written. */
export function databaseUnavailable(cause: unknown): Problem {
  return new Problem('database_unavailable', 'The database cannot be reached. Nothing was written.', {
    cause,
    retryAfterSeconds: 1,
  });
}

/** A single write was sent, and no response came. */
export function databaseLost(cause: unknown): Problem {
  return new Problem('database_unavailable', 'The database was lost before it had answered.', {
    cause,
    retryAfterSeconds: 1,
  });
}

/** The institution is about to open at another cell, or here. Nothing was written. */
export function institutionMoving(cause?: unknown): Problem {
  return new Problem(
    'institution_moving',
    'The institution is moving, which takes seconds. Nothing was written.',
    {
      cause,
      retryAfterSeconds: 1,
    },
  );
}

/** The institution has moved to another cell. */
export function institutionElsewhere(cause?: unknown): Problem {
  return new Problem(
    'institution_elsewhere',
    'The institution is served by another cell, which the same request reaches over a new connection.',
    { cause },
  );
}

/** The Problem for the refusal of a fence (check_fence()); every other error as it is. */
export function asRefusalOfFence(error: unknown): unknown {
  const state = sqlStateOf(error);
  if (state === sqlState.institutionMoving) return institutionMoving(error);
  return state === sqlState.institutionElsewhere ? institutionElsewhere(error) : error;
}

/**
 * The institution whose statement failed, in a transaction of several; undefined if the failure is not that of one, for instance at
 * the commit.
 */
export function institutionOf(error: unknown): InstitutionId | undefined {
  if (!(error instanceof pg.DatabaseError)) return undefined;
  const { statement, institution } = error as { readonly statement?: string; readonly institution?: string };
  return institution && statement !== 'commit' ? (Number(institution) as InstitutionId) : undefined;
}

/** A lock was not free in time, or two transactions waited for each other. */
export function isLockedOut(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === sqlState.lockNotAvailable || state === sqlState.deadlockDetected;
}

/** Another transaction holds a lock that this one needs: Problem `overloaded`, since nothing was written. Other errors stay. */
export function asLockedOut(error: unknown): unknown {
  if (!isLockedOut(error)) return error;
  return new Problem('overloaded', 'Another change of the same record took too long. Nothing was written.', {
    cause: error,
    retryAfterSeconds: 1,
  });
}

/** The commit was sent and its response lost, so its outcome is unknown. */
export function outcomeUnknown(cause: unknown, members: Record<string, unknown> = {}): Problem {
  return new Problem(
    'outcome_unknown',
    'The answer to the commit was lost: it may or may not have happened. Repeating the same request is safe.',
    { cause, members },
  );
}
