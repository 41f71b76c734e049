/** Work in the background that runs again and again. */
export interface Repeated {
  /** Waits for the run under way; no other begins. */
  stop(): Promise<void>;
}

/** Runs `work`, each time `everyMillis` after the end of the run before. An error of one run does not end the next. */
export function repeatedly(
  work: () => Promise<void>,
  { everyMillis, onError }: { readonly everyMillis: number; readonly onError: (error: unknown) => void },
): Repeated {
  let isStopped = false;
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  const schedule = () => {
    timer = setTimeout(() => {
      running = work()
        .catch(onError)
        .then(() => {
          if (!isStopped) schedule();
        });
    }, everyMillis);
  };
  schedule();
  return {
    stop: async () => {
      isStopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}
