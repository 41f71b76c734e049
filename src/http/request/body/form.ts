import { Problem } from '../../../shared/problem.ts';

export interface ParsedForm {
  /** Has no prototype, so it contains sent names only. A repeated name has its first value. */
  readonly value: Record<string, string>;
  /** The names that were sent more than once, each named once. */
  readonly repeated: string[];
}

/**
 * Reads `application/x-www-form-urlencoded` as `URLSearchParams` does, except that it never guesses: throws Problem
 * `invalid_request` for a percent sign without two hexadecimal digits, and for escapes that are not UTF-8.
 *
 * Source: WHATWG URL, section 5.1, https://url.spec.whatwg.org/#urlencoded-parsing
 */
export function parseForm(text: string): ParsedForm {
  const value: Record<string, string> = Object.create(null);
  const repeated = new Set<string>();
  for (const pair of text.split('&')) {
    if (pair === '') continue;
    const equals = pair.indexOf('=');
    const name = decode(equals === -1 ? pair : pair.slice(0, equals));
    const content = equals === -1 ? '' : decode(pair.slice(equals + 1));
    if (name in value) repeated.add(name);
    else value[name] = content;
  }
  return { value, repeated: [...repeated] };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch (cause) {
    throw new Problem('invalid_request', 'The form holds a percent escape that is malformed or not UTF-8.', {
      cause,
    });
  }
}
