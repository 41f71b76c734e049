import { Problem } from '../../shared/problem.ts';

const username = /^[A-Za-z0-9._@+-]{6,64}$/;

/** Folds ASCII letters only, as the database's look-up does: `toLowerCase` would turn the Kelvin sign into a k. */
export function foldUsername(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}

/** Problem `username_rejected`. */
export function checkNewUsername(name: string, memberNumbers: readonly string[]): void {
  if (!username.test(name)) {
    throw rejected('A username has 6 to 64 letters, digits or characters of . _ @ + -');
  }
  if (/^[0-9]+$/.test(name)) throw rejected('A username is not only digits.');
  if (memberNumbers.some((number) => number.toLowerCase() === name.toLowerCase())) {
    throw rejected('A username is not the member number.');
  }
}

function rejected(detail: string): Problem {
  return new Problem('username_rejected', detail, { errors: [{ pointer: '/username', detail }] });
}
