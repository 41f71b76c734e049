import { useEffect, useRef, useState } from 'preact/hooks';
import { Button, Loading, Notice } from '../design/components.ts';
import { type Children, html } from '../design/html.ts';
import { SignedOutError } from './signed-out-error.ts';

export type Loaded<Value> =
  | { readonly kind: 'loading' }
  | { readonly kind: 'ready'; readonly value: Value }
  | { readonly kind: 'failed'; readonly error: unknown };

/**
 * Loads a value, and again when one of `keys` changes or `again` is called. A response that comes too late is dropped. `refresh` loads it once
 * more behind the one that shows.
 */
export function useLoad<Value>(load: () => Promise<Value>, keys: readonly unknown[]) {
  const [state, setState] = useState<Loaded<Value>>({ kind: 'loading' });
  const [round, setRound] = useState(0);
  const rounds = useRef(0);
  useEffect(() => {
    let isCurrent = true;
    rounds.current += 1;
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
  const refresh = async () => {
    rounds.current += 1;
    const own = rounds.current;
    // If this fails, the value that shows stays.
    const value = await load().catch(() => undefined);
    if (value !== undefined && rounds.current === own) setState({ kind: 'ready', value });
  };
  return { state, again: () => setRound(round + 1), refresh };
}

/**
 * Loads a value, and again every so many seconds while the page is visible and `isOn`. The last value stays when a request fails.
 */
export function useLive<Value>(load: () => Promise<Value>, everySeconds: number, isOn: boolean) {
  const [value, setValue] = useState<Value>();
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    if (!isOn) return;
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async () => {
      if (!document.hidden) {
        try {
          const latest = await load();
          if (isCurrent) setValue(latest);
          if (isCurrent) setError(undefined);
        } catch (failure) {
          if (failure instanceof SignedOutError) return;
          if (isCurrent) setError(failure);
        }
      }
      if (isCurrent) timer = setTimeout(refresh, everySeconds * 1_000);
    };
    void refresh();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [isOn]);
  return { value, error };
}

interface StatefulProps<Value> {
  readonly state: Loaded<Value>;
  /** The thing that loads, in the words of the page. */
  readonly subject: string;
  readonly sentenceOf: (error: unknown) => string;
  readonly again: () => void;
  readonly children: (value: Value) => Children;
}

/** Shows a value, or why there is none yet. */
export function Stateful<Value>({ state, subject, sentenceOf, again, children }: StatefulProps<Value>) {
  if (state.kind === 'loading') return html`<${Loading} subject=${subject} />`;
  if (state.kind === 'ready') return html`${children(state.value)}`;
  return html`<div class="failed">
    <${Notice} kind="bad" title=${sentenceOf(state.error)} />
    <${Button} kind="quiet" onPress=${again}>Try again<//>
  </div>`;
}
