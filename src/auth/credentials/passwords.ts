import { hash, verify } from '@node-rs/argon2';
import { giveWay } from '../../shared/helper-threads.ts';
import { Problem } from '../../shared/problem.ts';
import { Turns } from '../sign-in/turns.ts';
import { isGuessable } from './password-strength.ts';

/** argon2id with OWASP's parameters for one lane: 19 MiB, two passes. The encoded hash carries them. */
const parameters = { memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const encodedParameters = `$argon2id$v=19$m=${parameters.memoryCost},t=${parameters.timeCost},p=${parameters.parallelism}$`;
const maxWaiting = 512;
const maxLength = 128;
/** UTF-16 units, before it is normalized: of no character are there more than six in its longest spelling. */
const mostUnits = 8 * maxLength;

/**
 * Hashes and checks passwords, some at a time: a storm of logins takes turns on a part of the cores and of libuv's
 * threads, and is refused beyond a number (Problem `overloaded`) rather than allowed to slow the rest of the service. New
 * passwords stand in a line of their own, so that they do not hold up logins.
 */
export class PasswordHasher {
  readonly #turns: Turns;
  #nobodysHash: Promise<string> | undefined;

  constructor(concurrency: number) {
    this.#turns = new Turns(concurrency, maxWaiting);
  }

  hash(password: string): Promise<string> {
    return this.#turns.take('new', () => hash(normalize(password), parameters));
  }

  /** `encoded` null, for a user who does not exist or has no password, takes as long and answers false. */
  async verify(encoded: string | null, password: string): Promise<boolean> {
    this.#nobodysHash ??= hashForNobody();
    const against = encoded ?? (await this.#nobodysHash);
    const matches = await this.#turns.take('check', () => verify(against, normalize(password)));
    return matches && encoded !== null;
  }

  /** The hash to keep of a password that has just matched: a new one where the old was made with other parameters. */
  async upgrade(encoded: string | null, password: string): Promise<string | null> {
    return encoded === null || encoded.startsWith(encodedParameters) ? encoded : this.hash(password);
  }
}

/** With the first check of a process; libuv has its threads from then on. */
function hashForNobody(): Promise<string> {
  const hashing = hash('nobody has this password', parameters);
  giveWay('libuv');
  return hashing;
}

/**
 * NFKC, so that the same keys on another keyboard give the same password (NIST SP 800-63B-4, 3.1.1.2). What is too long
 * to be one stays as it is: marks out of order are put into it in time that grows with the square of their number.
 */
function normalize(password: string): string {
  return password.length > mostUnits ? password : password.normalize('NFKC');
}

/** Parts of a password that a stranger would try first: names, numbers and addresses of the member, the institution's name. */
export interface PasswordRules {
  readonly username: string;
  readonly minLength: number;
  readonly ownWords: readonly string[];
}

/**
 * The rules for a new password, after NIST SP 800-63B-4: length, no username in it, not guessable. Throws Problem
 * `password_rejected` that says which rule, at the field `pointer`.
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
