import { createReadStream } from 'node:fs';

/** One record and its first line; lines count from 1. */
export interface CsvRecord {
  readonly line: number;
  readonly values: readonly string[];
}

/** The file is not CSV in UTF-8. */
export class CsvError extends Error {
  override readonly name = 'CsvError';
  readonly line: number;
  readonly expected: string;
  constructor(line: number, expected: string) {
    super(`line ${line}: expected ${expected}`);
    this.line = line;
    this.expected = expected;
  }
}

/** Bytes of a file read at a time. */
export const blockBytes = 65_536;
/** In characters. Limits the damage of an unclosed quote. */
const longestRecord = 65_536;
const lineFeed = 0x0a;

/** The form of a file that is not as RFC 4180 in UTF-8. */
export interface CsvForm {
  readonly encoding?: 'utf-8' | 'windows-1252';
  readonly delimiter?: ',' | ';' | '\t' | '|';
}

/**
 * The records of a CSV file (RFC 4180) in UTF-8 unless `form` says otherwise, some thousands at a time, without empty lines. Memory is bounded by a block. A byte order mark is dropped; lines may end in CR LF.
 *
 * Errors: CsvError; a file that cannot be read is the file system's own error.
 */
export async function* readCsv(
  file: string,
  { encoding = 'utf-8', delimiter = ',' }: CsvForm = {},
): AsyncGenerator<CsvRecord[]> {
  const value = new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${delimiter}]*))(\\${delimiter}|$)`, 'y');
  let line = 0;
  let open: { readonly from: number; text: string; quotes: number } | undefined;
  for await (const lines of readLines(file, encoding)) {
    const records: CsvRecord[] = [];
    for (const text of lines) {
      line += 1;
      if (open === undefined) {
        if (text.length > longestRecord) throw new CsvError(line, 'no record longer than 65,536 characters');
        if (!text.includes('"')) {
          const values = text.endsWith('\r') ? text.slice(0, -1) : text;
          if (values !== '') records.push({ line, values: values.split(delimiter) });
          continue;
        }
        open = { from: line, text, quotes: quotesIn(text) };
      } else {
        open.text += `\n${text}`;
        open.quotes += quotesIn(text);
        if (open.text.length > longestRecord) throw new CsvError(open.from, 'CSV as in RFC 4180');
      }
      if (open.quotes % 2 === 1) continue;
      records.push({ line: open.from, values: readQuoted(open.text.replace(/\r$/, ''), open.from, value) });
      open = undefined;
    }
    yield records;
  }
  if (open !== undefined) throw new CsvError(open.from, 'CSV as in RFC 4180');
}

function quotesIn(text: string): number {
  let quotes = 0;
  for (let at = text.indexOf('"'); at !== -1; at = text.indexOf('"', at + 1)) quotes += 1;
  return quotes;
}

/** A record with quoted values. */
function readQuoted(text: string, line: number, value: RegExp): string[] {
  value.lastIndex = 0;
  const values: string[] = [];
  for (;;) {
    const [, quoted, plain, end] = value.exec(text) ?? [];
    if (end === undefined) throw new CsvError(line, 'CSV as in RFC 4180');
    values.push(quoted?.replaceAll('""', '"') ?? plain ?? '');
    if (end === '') return values;
  }
}

/** Blocks of whole lines, each without its line feed. */
async function* readLines(file: string, encoding: 'utf-8' | 'windows-1252'): AsyncGenerator<string[]> {
  const decode = encoding === 'utf-8' ? decodeUtf8 : decodeWindows;
  let linesBefore = 0;
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(file, { highWaterMark: blockBytes })) {
    const bytes: Buffer = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const end = bytes.lastIndexOf(lineFeed) + 1;
    rest = bytes.subarray(end);
    // A character has at most four bytes in UTF-8.
    if (rest.length > 4 * longestRecord) {
      throw new CsvError(linesBefore + 1, 'no record longer than 65,536 characters');
    }
    if (end === 0) continue;
    const lines = decode(bytes.subarray(0, end), linesBefore).split('\n');
    lines.pop();
    yield lines;
    linesBefore += lines.length;
  }
  if (rest.length > 0) yield [decode(rest, linesBefore)];
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Every byte is a character. */
function decodeWindows(bytes: Buffer): string {
  return windows.decode(bytes);
}

const windows = new TextDecoder('windows-1252');

function decodeUtf8(bytes: Buffer, linesBefore: number): string {
  try {
    const text = utf8.decode(bytes);
    return linesBefore === 0 && text.startsWith('\uFEFF') ? text.slice(1) : text;
  } catch {
    throw new CsvError(linesBefore + firstLineNotInUtf8(bytes), 'UTF-8');
  }
}

function firstLineNotInUtf8(bytes: Buffer): number {
  let line = 1;
  for (let start = 0; start < bytes.length; line += 1) {
    const end = bytes.indexOf(lineFeed, start);
    const past = end === -1 ? bytes.length : end + 1;
    try {
      utf8.decode(bytes.subarray(start, past));
    } catch {
      return line;
    }
    start = past;
  }
  return 1;
}
