import { decimalMembers } from './tables.ts';

/** A name with its colon, another text, or a number. */
const token = /("(?:[^"\\]|\\.)*")(\s*:)?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const decimal = /^"-?\d+(?:\.\d+)?"$/;

/** Parses JSON with each decimal as the string of its digits: `JSON.parse` would round it. */
export function parseJson(text: string): unknown {
  return JSON.parse(
    mapDecimals(text, (value) => {
      return value.startsWith('"') ? value : `"${value}"`;
    }),
  );
}

/** Writes JSON with each decimal as a number with exactly the digits of its string. */
export function writeJson(value: object): string {
  return mapDecimals(JSON.stringify(value), (text, name) => {
    if (decimal.test(text)) return text.slice(1, -1);
    throw new TypeError(`${name} must be a string of digits, for instance '105.25'`);
  });
}

/** The text with each value behind the name of a decimal replaced. */
function mapDecimals(text: string, replace: (value: string, name: string) => string): string {
  let name = '';
  return text.replace(token, (value: string, quoted: string | undefined, colon: string | undefined) => {
    if (quoted !== undefined && colon !== undefined) {
      name = quoted.slice(1, -1);
      return value;
    }
    return decimalMembers.has(name) ? replace(value, name) : value;
  });
}
