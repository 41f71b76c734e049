import { InvalidArgumentError } from 'commander';
import { parseScope, type Scope, scopes } from '../auth/index.ts';
import { parseMoment } from '../core-system/index.ts';
import { isReadable } from '../shared/text/readable-text.ts';

/** Reads a text of this form. The sentence is the refusal of any other. */
export function matching(form: RegExp, sentence: string): (text: string) => string {
  return accepting((text) => form.test(text), sentence);
}

/** Reads a text that the test accepts. */
export function accepting(test: (text: string) => boolean, sentence: string): (text: string) => string {
  return (text) => {
    if (test(text)) return text;
    throw new InvalidArgumentError(sentence);
  };
}

/** Reads a whole number within the bounds, both included. */
export function wholeNumber(least: number, most: number, sentence: string): (text: string) => number {
  const isWithin = (text: string) =>
    /^[0-9]{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most;
  const read = accepting(isWithin, sentence);
  return (text) => Number(read(text));
}

/** Reads a list of items with spaces between, each by `read`. */
export function listOf<Item>(read: (text: string) => Item): (text: string) => Item[] {
  return (text) => text.split(/\s+/).map(read);
}

/** Reads the word as itself, and any other text by `read`. */
export function unless<const Word extends string, Value>(
  word: Word,
  read: (text: string) => Value,
): (text: string) => Value | Word {
  return (text) => (text === word ? word : read(text));
}

/** The scopes of an option, separated by spaces. */
export const readScopes: (text: string) => Scope[] = listOf((name) => {
  const scope = parseScope(name);
  if (scope === undefined) throw new InvalidArgumentError(`Scopes are ${scopes.join(', ')}.`);
  return scope;
});

/** A name for people, in one line of at most 128 characters, since lists show it unchanged. */
export function readNameForPeople(text: string): string {
  const name = text.trim();
  if (/^.{1,128}$/u.test(name) && isReadable(name)) return name;
  throw new InvalidArgumentError('Must have 1 to 128 characters, all of them visible and in one line.');
}

/** The words of an operator, in one line of at most 256 characters, as the audit keeps them. */
export function readReason(text: string): string {
  const reason = text.trim();
  if (/^.{1,256}$/u.test(reason) && reason.length <= 256 && isReadable(reason)) return reason;
  throw new InvalidArgumentError('Must have 1 to 256 characters, all of them visible and in one line.');
}

/** A moment with its offset. */
export function readMoment(text: string): Date {
  const moment = parseMoment(text);
  if (moment === undefined) {
    throw new InvalidArgumentError('Must be a moment with its offset, like 2026-03-02T06:00:00-05:00.');
  }
  return moment;
}
