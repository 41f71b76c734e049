import { Worker } from 'node:worker_threads';
import { FairQueue } from '../../shared/fair-queue.ts';
import { Problem } from '../../shared/problem.ts';
import { tooManyLogins } from '../sign-in/too-many-logins.ts';
import { wellKnownPhrases } from './well-known-phrases.ts';

/** Below 10^8 guesses a password is "somewhat guessable" to zxcvbn: a slow hash alone does not protect it. */
const fewestGuessesLog10 = 8;
/** In characters. The estimate's time grows faster than the text; the rest of a longer password only adds strength. */
const longestEstimated = 72;
const shortestWord = 3;
const shortestPhrase = 8;
const productName = 'sharedraft';
const mostWaiting = 64;
const patienceMillis = 5_000;
const idleMillis = 60_000;

/** One estimate at a time: the process has one thread for it. */
const queue = new FairQueue(1, mostWaiting, tooManyLogins);
let worker: Worker | undefined;
let idle: NodeJS.Timeout | undefined;

/**
 * Whether the password can be guessed: it is a repetition, a sequence, a keyboard row or a common password; or little is left of it
 * without well-known phrases, the product's name and the `ownWords` of the member and the institution. Problem `overloaded` when too many wait.
 */
export async function isGuessable(password: string, ownWords: readonly string[]): Promise<boolean> {
  const folded = withoutInvisible(password).toLowerCase().slice(0, longestEstimated);
  const letters = withoutFiller(withoutWords(folded, [...ownWords, productName]));
  const texts = [folded, withoutRepeats(withoutPhrases(letters))];
  return (await queue.run('strength', () => estimate(texts))) < fewestGuessesLog10;
}

/** Removes the longest words first: "lakeside" would leave ".example" of "lakeside.example". */
function withoutWords(text: string, words: readonly string[]): string {
  return words
    .flatMap((word) => [word, ...word.split(/[^\p{L}\p{N}]+/u)])
    .map((word) => word.toLowerCase())
    .filter((word) => word.length >= shortestWord)
    .toSorted((one, other) => other.length - one.length)
    .reduce((left, word) => left.replaceAll(word, ''), text);
}

/** zxcvbn does not recognize a common password that contains a zero-width space. */
function withoutInvisible(text: string): string {
  return text.replace(/[\p{C}\p{Default_Ignorable_Code_Point}]/gu, '');
}

/** Removes separators, and repeats of a character: "111222333" is no stronger than "123". */
function withoutFiller(text: string): string {
  return text.replace(/[\s._-]+/gu, '').replace(/(.)\1{2,}/gu, '$1');
}

function withoutPhrases(text: string): string {
  for (let start = 0; start <= text.length - shortestPhrase; start += 1) {
    let end = start;
    while (end < text.length && wellKnownPhrases.includes(text.slice(start, end + 1))) end += 1;
    if (end - start >= shortestPhrase) return text.slice(0, start) + withoutPhrases(text.slice(end));
  }
  return text;
}

/** Removes repeated parts: "summer2026summer" is no stronger than "summer2026". */
function withoutRepeats(text: string): string {
  const left = text.replace(/(.{4,})(.*?)\1/gu, '$1$2');
  return left === text ? text : withoutRepeats(left);
}

/** Starts the thread with the first estimate and ends it after a minute without one. */
function estimate(texts: readonly string[]): Promise<number> {
  clearTimeout(idle);
  worker ??= startWorker();
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const current = worker;
  const giveUp = (cause?: unknown) => {
    void current.terminate();
    worker = undefined;
    reject(
      new Problem('overloaded', 'The password could not be checked in time. Nothing was written.', { cause }),
    );
  };
  const patience = setTimeout(giveUp, patienceMillis);
  current.once('message', resolve).once('error', giveUp);
  current.ref();
  current.postMessage({ texts });
  return promise.finally(() => {
    clearTimeout(patience);
    current
      .removeAllListeners('message')
      .removeAllListeners('error')
      .on('error', () => {});
    current.unref();
    idle = setTimeout(() => {
      void worker?.terminate();
      worker = undefined;
    }, idleMillis).unref();
  });
}

function startWorker(): Worker {
  return new Worker(new URL('./password-strength-worker.ts', import.meta.url));
}
