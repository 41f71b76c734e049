import { useEffect, useState } from 'preact/hooks';
import { SignedOutError } from './session.ts';

export type Loaded<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown };

/** Loads a value, and again when one of `keys` changes or `again` is called. A response that comes too late is dropped. */
export function useLoad<Value>(load: () => Promise<Value>, keys: readonly unknown[]) {
  const [state, setState] = useState<Loaded<Value>>({ kind: 'loading' });
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isCurrent = true;
    load().then(
      (value) => {
        if (isCurrent) setState({ kind: 'ready', value });
      },
      (error) => {
        if (isCurrent && !(error instanceof SignedOutError)) setState({ kind: 'failed', error });
      },
    );
    return () => {
      isCurrent = false;
      setState({ kind: 'loading' });
    };
  }, [round, ...keys]);
  return { state, again: () => setRound(round + 1) };
}
