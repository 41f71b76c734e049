import { hash, verify } from '@node-rs/argon2';
import { FairQueue } from '../../shared/fair-queue.ts';
import { Problem } from '../../shared/problem.ts';
import { giveWay } from '../../shared/process/helper-threads.ts';
import { tooManyLogins } from '../sign-in/too-many-logins.ts';
import { isGuessable } from './password-strength.ts';

/** argon2id with OWASP's parameters for one lane: 19 MiB, two passes. The encoded hash carries them. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const encodedParameters = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;
const maxWaiting = 512;
const maxLength = 128;
/** In UTF-16 units, before normalization; no character has more than six. */
const maxUnits = 8 * maxLength;

/**
 * Hashes and verifies passwords, a bounded number at a time, so that a storm of sign-ins cannot slow the rest of the service. Beyond
 * a number of waiting ones: Problem `overloaded`. New passwords have a queue of their own and do not delay sign-ins.
 */
export class PasswordHasher {
  readonly #queue: FairQueue;
  #dummyHash: Promise<string> | undefined;

  constructor(concurrency: number) {
    this.#queue = new FairQueue(concurrency, maxWaiting, tooManyLogins);
  }

  /** Passwords that wait for a thread. */
  get queue(): { readonly waiting: number; readonly capacity: number } {
    return this.#queue;
  }

  hash(password: string): Promise<string> {
    return this.#queue.run('new', () => hash(normalize(password), parameters));
  }

  /** False for `encoded` null (an unknown user, or one without a password), after the same time. */
  async verify(encoded: string | null, password: string): Promise<boolean> {
    this.#dummyHash ??= startDummyHash();
    const against = encoded ?? (await this.#dummyHash);
    const matches = await this.#queue.run('check', () => verify(against, normalize(password)));
    return matches && encoded !== null;
  }

  /** The hash to store for a password that has just matched: a new one if the old has other parameters. */
  async upgrade(encoded: string | null, password: string): Promise<string | null> {
    return encoded === null || encoded.startsWith(encodedParameters) ? encoded : this.hash(password);
  }
}

/** Made with the first check of a process, which also starts libuv's threads. */
function startDummyHash(): Promise<string> {
  const hashing = hash('nobody has this password', parameters);
  giveWay('libuv');
  return hashing;
}

/**
 * NFKC, so that different keyboards give the same password (NIST SP 800-63B-4, section 3.1.1.2). A text that is too long for a
 * password stays as it is, since the time to normalize combining marks grows with the square of their number.
 */
function normalize(password: string): string {
  return password.length > maxUnits ? password : password.normalize('NFKC');
}

/** `ownWords`: names, numbers and addresses of the member, and the institution's name. */
export interface PasswordRules {
  readonly username: string;
  readonly minLength: number;
  readonly ownWords: readonly string[];
}

/**
 * Checks a new password after NIST SP 800-63B-4: length, no username in it, not guessable. Problem `password_rejected` with
 * the broken rule, at the field `pointer`.
 */
export async function checkNewPassword(
  password: string,
  { username, minLength, ownWords }: PasswordRules,
  pointer = '/password',
): Promise<void> {
  const reject = (detail: string): never => {
    throw new Problem('password_rejected', detail, { errors: [{ pointer, detail }] });
  };
  const normalized = normalize(password);
  const length = [...normalized].length;
  if (length < minLength || length > maxLength) {
    reject(`A password must have ${minLength} to ${maxLength} characters.`);
  }
  if (normalized.toLowerCase().includes(username.toLowerCase())) {
    reject('A password must not contain the username.');
  }
  if (await isGuessable(normalized, [username, ...ownWords])) {
    reject(
      'The password is easy to guess. Avoid repetition, sequences, common passwords, your own name and the name of the institution; several unrelated words make a good password.',
    );
  }
}
