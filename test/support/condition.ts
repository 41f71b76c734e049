import { type Condition, condition } from '../../src/storage/index.ts';

/** Holds, or is refused, as `accept` says when it is read. */
export function aCondition(accept: () => Promise<unknown>): Condition {
  const read = {
    nameOf: String,
    run: async (_tx: unknown, _institution: unknown, keys: readonly string[]) => keys,
  };
  return condition<string, string>(read, 'whatever', accept);
}
