import assert from 'node:assert/strict';
import { Problem } from '../../src/shared/problem.ts';

/** Everything that a caller learns from a refusal: two that differ in any of it can be distinguished. */
export interface Refusal {
  readonly code: string;
  readonly detail: string;
  readonly errors: readonly object[];
  readonly members: object;
  readonly retryAfterSeconds: number | undefined;
}

export async function refusalOf(promise: Promise<unknown>): Promise<Refusal> {
  const error: unknown = await promise.then(
    () => assert.fail('it was not refused'),
    (reason: unknown) => reason,
  );
  if (!(error instanceof Problem)) throw error;
  const { code, detail, errors, members, retryAfterSeconds } = error;
  return { code, detail, errors, members, retryAfterSeconds };
}
