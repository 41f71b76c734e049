/** The reason why a line changes nothing. */
export interface Refusal<Code extends string = string> {
  readonly id?: string;
  readonly code: Code;
  readonly detail: string;
}

/** A line of a delivery with its number, from 1, and what was read of it. */
export interface Line<Item> {
  readonly line: number;
  readonly item: Item | Refusal;
}

export function isRefusal(item: object): item is Refusal {
  return 'code' in item;
}

/** The bytes of a delivery ended before it was complete. Lines before `line` were read. */
export class TruncatedError extends Error {
  override readonly name = 'TruncatedError';
  readonly line: number;
  constructor(line: number, options?: ErrorOptions) {
    super(`the delivery ends within line ${line}`, options);
    this.line = line;
  }
}

/** A line did not arrive in time. */
export class SlowLineError extends Error {
  override readonly name = 'SlowLineError';
  readonly line: number;
  constructor(line: number) {
    super(`line ${line} did not arrive in time`);
    this.line = line;
  }
}

const lineFeed = 0x0a;
export const longestLineBytes = 16 * 1024;
const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The text of a line; null if it has more than 16 KiB, undefined if it is not UTF-8. */
export interface TextLine {
  readonly line: number;
  readonly text: string | null | undefined;
}

/**
 * The lines of a stream of bytes, those of each chunk together, without empty ones. A line has at most 16 KiB; the rest of a longer
 * one is dropped as it arrives, so memory is bounded by a chunk and a line. The last line may lack its line feed.
 *
 * TruncatedError if the stream fails. SlowLineError if a begun line takes longer than `patienceMillis` to arrive.
 */
export async function* splitLines(
  chunks: AsyncIterable<Uint8Array>,
  patienceMillis = Number.POSITIVE_INFINITY,
): AsyncGenerator<TextLine[]> {
  let line = 1;
  let rest: Buffer = Buffer.alloc(0);
  let isTooLong = false;
  let begunAt = 0;
  try {
    for await (const chunk of chunks) {
      const bytes =
        rest.length === 0
          ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length)
          : Buffer.concat([rest, chunk]);
      const lines: TextLine[] = [];
      let start = 0;
      for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, start)) {
        const own = bytes.subarray(start, end);
        const text = isTooLong || own.length > longestLineBytes ? null : decode(own);
        if (text !== '') lines.push({ line, text });
        isTooLong = false;
        line += 1;
        start = end + 1;
      }
      rest = bytes.subarray(start);
      if (rest.length > longestLineBytes) {
        isTooLong = true;
        rest = Buffer.alloc(0);
      }
      if (rest.length === 0 && !isTooLong) begunAt = 0;
      else if (start > 0 || begunAt === 0) begunAt = performance.now();
      if (lines.length > 0) yield lines;
      if (begunAt > 0 && performance.now() - begunAt > patienceMillis) throw new SlowLineError(line);
    }
  } catch (error) {
    throw error instanceof SlowLineError ? error : new TruncatedError(line, { cause: error });
  }
  const text = isTooLong ? null : decode(rest);
  if (text !== '') yield [{ line, text }];
}

/** A byte order mark is dropped. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return utf8.decode(bytes).trim();
  } catch {
    return undefined;
  }
}

/**
 * The lines in batches: those that have arrived, at most `most`, as soon as there are some. Lines are read ahead while the caller
 * works on a batch, and no more than `most` of them. An error of the lines comes after the lines before it.
 */
export async function* inBatches<Item>(
  chunks: AsyncIterable<readonly Item[]>,
  most: number,
): AsyncGenerator<readonly Item[]> {
  const source = chunks[Symbol.asyncIterator]();
  let waiting: Item[] = [];
  let ended: { readonly error?: unknown } | undefined;
  let isReading = false;
  const read = async () => {
    if (isReading) return;
    isReading = true;
    while (ended === undefined && waiting.length < most) {
      try {
        const next = await source.next();
        if (next.done) ended = {};
        else waiting = waiting.length === 0 ? [...next.value] : waiting.concat(next.value);
      } catch (error) {
        ended = { error };
      }
      progress.resolve();
      progress = Promise.withResolvers<void>();
    }
    isReading = false;
  };
  let progress = Promise.withResolvers<void>();
  try {
    for (;;) {
      void read();
      if (waiting.length === 0 && ended === undefined) await progress.promise;
      if (waiting.length > 0) {
        const batch = waiting.slice(0, most);
        waiting = waiting.slice(most);
        void read();
        yield batch;
      } else if (ended !== undefined) {
        if ('error' in ended) throw ended.error;
        return;
      }
    }
  } finally {
    // Not awaited: a pending read ends with its stream.
    source.return?.()?.catch(() => {});
  }
}
