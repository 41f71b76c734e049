import { effect, signal } from '@preact/signals';
import { touch } from './attention.ts';
import { read, type Session } from './operations.ts';
import { ask, session, toSignIn } from './session.ts';

/** The end of the session, once it is near. */
interface Ending {
  readonly at: Date;
  /** Whether a key keeps the session. Twelve hours after the sign-in none does. */
  readonly canStay: boolean;
}

export const ending = signal<Ending | undefined>(undefined);

const touches = ['keydown', 'pointerdown', 'wheel', 'touchstart'] as const;
const warnMillis = 120_000;
/** A person who reads or writes for long without a request keeps the session, with a request after this time. */
const keepMillis = 5 * 60_000;
/** After the end the service is asked. It counts by its own clock. */
const graceMillis = 1_000;
const againMillis = 15_000;

let endsAt = Number.POSITIVE_INFINITY;
let askedAt = 0;
let isAsking = false;
let timer: ReturnType<typeof setTimeout> | undefined;

/** Warns before the session ends, and leaves the page at its end, so that no screen of a person who went away stays open. */
export function watchEnd(): void {
  effect(() => {
    if (session.value) note(session.value);
  });
  const touched = () => {
    touch();
    const isDue = Date.now() - askedAt > keepMillis || ending.peek()?.canStay === true;
    if (session.peek() && isDue) void check();
  };
  for (const name of touches) addEventListener(name, touched, { capture: true, passive: true });
}

function note({ idleInSeconds, expiresInSeconds }: Session): void {
  const now = Date.now();
  askedAt = now;
  endsAt = now + idleInSeconds * 1_000;
  const left = endsAt - now;
  ending.value =
    left > warnMillis ? undefined : { at: new Date(endsAt), canStay: idleInSeconds < expiresInSeconds };
  clearTimeout(timer);
  timer = setTimeout(() => void check(), left > warnMillis ? left - warnMillis : left + graceMillis);
}

/** Other tabs of the browser may have used the session meanwhile. */
async function check(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  try {
    note(await ask(() => read<Session>('/session')));
  } catch {
    // Without the service the page cannot know, and shows nothing beyond the end.
    if (Date.now() >= endsAt) toSignIn();
    clearTimeout(timer);
    timer = setTimeout(() => void check(), againMillis);
  } finally {
    isAsking = false;
  }
}
