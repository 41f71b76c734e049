import { type RecordLine, readRecordLine } from '../../core-system/index.ts';
import { Problem } from '../../shared/problem.ts';
import { parseJson } from '../../shared/text/json.ts';
import { type BalanceLine, readBalanceLine } from '../breaks/delivery/balance-line.ts';
import { type Line, longestLineBytes, type Refusal, splitLines, type TextLine } from './lines.ts';
import { type LineRules, readTransactionLine, type TransactionLine } from './transaction-line.ts';

/** The transactions of a stream of bytes. */
export function readTransactions(
  bytes: AsyncIterable<Uint8Array>,
  format: Format,
  { rules, patienceMillis }: { readonly rules: () => LineRules } & Patience,
): AsyncGenerator<Line<TransactionLine>[]> {
  const reader = (): ReadFields<TransactionLine> => {
    const current = rules();
    return (fields, numberText) => {
      // A decimal string is accepted, as in transfers.
      const source = (name: string) =>
        typeof fields[name] === 'string' ? (fields[name] as string) : numberText(`/${name}`);
      return readTransactionLine(fields, source, current);
    };
  };
  return readLines(bytes, format, { reader, ...(patienceMillis !== undefined && { patienceMillis }) });
}

/** The core's balances of a stream of bytes, and the postings of its list. */
export function readBalances(
  bytes: AsyncIterable<Uint8Array>,
  format: Format,
  patience: Patience = {},
): AsyncGenerator<Line<BalanceLine>[]> {
  const read: ReadFields<BalanceLine> = (fields, numberText) =>
    readBalanceLine(fields, (name) =>
      typeof fields[name] === 'string' ? (fields[name] as string) : numberText(`/${name}`),
    );
  return readLines<BalanceLine>(bytes, format, { reader: () => read, ...patience });
}

/** The records of a stream of bytes. */
export function readRecords(
  bytes: AsyncIterable<Uint8Array>,
  format: Format,
  patience: Patience = {},
): AsyncGenerator<Line<RecordLine>[]> {
  return readLines<RecordLine>(bytes, format, { reader: () => readRecordLine, ...patience });
}

/** `lines` is NDJSON, `document` one JSON object. */
type Format = 'lines' | 'document';

interface Patience {
  /** A begun line must arrive within this time. */
  readonly patienceMillis?: number;
}

/** Reads the fields of a line. `numberText` is the source text of a number by its JSON pointer. */
type ReadFields<Item> = (
  fields: Readonly<Record<string, unknown>>,
  numberText: (pointer: string) => string | undefined,
) => Item | Refusal;

/**
 * The lines of a stream of bytes. `reader` is called for each chunk. A line that cannot
 * be read is a refusal with its number. TruncatedError, SlowLineError.
 */
async function* readLines<Item>(
  bytes: AsyncIterable<Uint8Array>,
  format: Format,
  { reader, patienceMillis }: { readonly reader: () => ReadFields<Item> } & Patience,
): AsyncGenerator<Line<Item>[]> {
  const lines = format === 'lines' ? splitLines(bytes, patienceMillis) : wholeDocument(bytes);
  for await (const together of lines) {
    const read = reader();
    yield together.map(({ line, text }) => ({ line, item: readText(text, read) }));
  }
}

function readText<Item>(text: TextLine['text'], read: ReadFields<Item>): Item | Refusal {
  if (text === null) return { code: 'line_too_long', detail: 'A line has at most 16 KiB.' };
  if (text === undefined) return { code: 'invalid_line', detail: 'The line is not UTF-8.' };
  try {
    const { value, numbers } = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { code: 'invalid_line', detail: 'The line must be a JSON object.' };
    }
    return read(value as Record<string, unknown>, (pointer) => numbers.get(pointer));
  } catch (error) {
    if (error instanceof Problem) return { code: 'invalid_line', detail: error.detail };
    throw error;
  }
}

/** One document as line 1. */
async function* wholeDocument(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<TextLine[]> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    size += chunk.length;
    if (size <= longestLineBytes) chunks.push(chunk);
  }
  const isTooLong = size > longestLineBytes;
  yield [{ line: 1, text: isTooLong ? null : decode(Buffer.concat(chunks)) }];
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
