import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';

/** A line in the middle of the journal is damaged: no repair is safe. */
export class JournalDamagedError extends Error {}

/**
 * An append-only file of entries, an entry a line: a checksum in hex, a space, the entry as JSON. Each checksum goes on from the
 * one before it, so a changed, lost or moved line is seen. An append is on disk when it resolves.
 */
export class Journal<Entry> {
  #file: FileHandle;
  #checksum: number;
  /** The append under way: the next one waits for it. */
  #last: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle, checksum: number) {
    this.#file = file;
    this.#checksum = checksum;
  }

  /** Opens or creates it, and reads its entries. A last line that was half written is cut. Throws JournalDamagedError. */
  static async open<Entry>(name: string): Promise<{ journal: Journal<Entry>; entries: Entry[] }> {
    await mkdir(path.dirname(name), { recursive: true, mode: 0o700 });
    const file = await open(name, 'a+', 0o600);
    try {
      const { entries, bytes, checksum } = readEntries<Entry>(await readFile(name));
      await file.truncate(bytes);
      await file.sync();
      await syncFolder(path.dirname(name));
      return { journal: new Journal<Entry>(file, checksum), entries };
    } catch (error) {
      await file.close();
      throw error;
    }
  }

  /** All or, if the process or the machine dies meanwhile, the first few of them. */
  append(entries: readonly Entry[]): Promise<void> {
    let text = '';
    for (const entry of entries) {
      const json = JSON.stringify(entry);
      this.#checksum = crc32(json, this.#checksum);
      text += `${hex(this.#checksum)} ${json}\n`;
    }
    this.#last = this.#last.then(async () => {
      await this.#file.appendFile(text);
      await this.#file.datasync();
    });
    return this.#last;
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file.close();
  }
}

function readEntries<Entry>(content: Buffer): { entries: Entry[]; bytes: number; checksum: number } {
  const entries: Entry[] = [];
  let checksum = 0;
  let start = 0;
  for (;;) {
    const end = content.indexOf(0x0a, start);
    if (end < 0) break;
    const line = content.toString('utf8', start, end);
    const json = line.slice(9);
    const next = crc32(json, checksum);
    if (line.slice(0, 9) !== `${hex(next)} `) {
      // A crash of the machine may leave blocks of a last append that were never written.
      if (content.indexOf(0x0a, end + 1) < 0) break;
      throw new JournalDamagedError(`the journal is damaged at line ${entries.length + 1}`);
    }
    entries.push(JSON.parse(json) as Entry);
    checksum = next;
    start = end + 1;
  }
  return { entries, bytes: start, checksum };
}

function hex(checksum: number): string {
  return checksum.toString(16).padStart(8, '0');
}

/** A new file is found after a power loss only if its folder was synced. */
async function syncFolder(name: string): Promise<void> {
  const folder = await open(name, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
