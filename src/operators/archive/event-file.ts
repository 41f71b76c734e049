import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import path from 'node:path';

/** A file of events, a line of JSON for each. */
export interface EventFile {
  readonly events: bigint;
  /** SHA-256 of the file. */
  readonly digest: Buffer;
}

/**
 * Writes the lines to a file that is on the disk, and was read back, before it has its name. Throws if the bytes read differ from those
 * written. A file of the same name is replaced: it is of an interrupted run.
 */
export async function writeEventFile(
  name: string,
  pages: AsyncIterable<readonly string[]>,
): Promise<EventFile> {
  const partial = `${name}.part`;
  const hash = createHash('sha256');
  let events = 0n;
  const file = await open(partial, 'w', 0o600);
  try {
    for await (const lines of pages) {
      const bytes = lines.map((line) => `${line}\n`).join('');
      hash.update(bytes);
      events += BigInt(lines.length);
      // It goes on after a short write.
      await file.appendFile(bytes);
    }
    await file.sync();
  } finally {
    await file.close();
  }
  const written = { events, digest: hash.digest() };
  if (!isSame(await readEventFile(partial), written)) {
    throw new Error(`${partial} does not hold what was written to it`);
  }
  await rename(partial, name);
  const folder = await open(path.dirname(name), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
  return written;
}

/** Counts the lines and computes the hash. Undefined if there is no such file. */
export async function readEventFile(name: string): Promise<EventFile | undefined> {
  const hash = createHash('sha256');
  let events = 0n;
  try {
    for await (const chunk of createReadStream(name) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) events += 1n;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  return { events, digest: hash.digest() };
}

export function isSame(one: EventFile | undefined, other: EventFile): boolean {
  return one !== undefined && one.events === other.events && one.digest.equals(other.digest);
}
