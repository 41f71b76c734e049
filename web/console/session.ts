import { signal } from '@preact/signals';
import { replaceAddress } from '../common/router.ts';
import { SignedOutError } from '../common/signed-out-error.ts';
import { read, type Session } from './operations.ts';

const screenKey = 'console-screen';

/** Undefined until it is known; null: nobody is signed in. */
export const session = signal<Session | null | undefined>(undefined);

export async function start(): Promise<void> {
  const screen = sessionStorage.getItem(screenKey);
  sessionStorage.removeItem(screenKey);
  if (screen !== null && location.hash === '') replaceAddress(`${location.pathname}${screen}`);
  session.value = await ask(() => read<Session>('/session')).catch((error) => {
    if (error instanceof SignedOutError) return null;
    throw error;
  });
}

export function may(right: string): boolean {
  return session.value?.rights.includes(right) === true;
}

/**
 * A request of a screen. If the session has ended, or a decision needs a more recent sign-in, the sign-in page opens and leads back to this
 * screen.
 */
export async function ask<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof SignedOutError && session.value) toSignIn();
    throw error;
  }
}

export function toSignIn(): void {
  sessionStorage.setItem(screenKey, location.hash);
  location.assign('/operations/sign-in?next=/console');
}

/** The service answers with its sign-in page. */
export async function signOut(): Promise<void> {
  await fetch('/operations/sign-out', { method: 'POST' });
  location.replace('/operations/sign-in?next=/console');
}
