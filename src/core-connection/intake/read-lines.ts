import { Problem } from '../../shared/problem.ts';
import { parseJson } from '../../shared/text/json.ts';
import { type Line, longestLineBytes, splitLines, type TextLine } from './lines.ts';
import { type LineRules, readTransactionLine, type TransactionLine } from './transaction-line.ts';

/**
 * The transactions of a stream of bytes: `lines` is NDJSON, `document` one JSON object. A line that cannot be read is a refusal
 * with its number. TruncatedError, SlowLineError.
 */
export async function* readTransactions(
  bytes: AsyncIterable<Uint8Array>,
  format: 'lines' | 'document',
  { rules, patienceMillis }: { readonly rules: () => LineRules; readonly patienceMillis?: number },
): AsyncGenerator<Line<TransactionLine>[]> {
  const lines = format === 'lines' ? splitLines(bytes, patienceMillis) : wholeDocument(bytes);
  for await (const together of lines) {
    const current = rules();
    yield together.map(({ line, text }) => ({ line, item: readText(text, current) }));
  }
}

function readText(text: TextLine['text'], rules: LineRules): Line<TransactionLine>['item'] {
  if (text === null) return { code: 'line_too_long', detail: 'A line has at most 16 KiB.' };
  if (text === undefined) return { code: 'invalid_line', detail: 'The line is not UTF-8.' };
  try {
    const { value, numbers } = parseJson(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) {
      return { code: 'invalid_line', detail: 'The line must be a JSON object.' };
    }
    const source = (name: string) => {
      const given = (value as Record<string, unknown>)[name];
      // A decimal string is accepted, as in transfers.
      return typeof given === 'string' ? given : numbers.get(`/${name}`);
    };
    return readTransactionLine(value as Record<string, unknown>, source, rules);
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
