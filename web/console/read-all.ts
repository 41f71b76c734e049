import type { Page } from './operations.ts';

/** The most rows of one file. */
export const mostRows = 20_000;
/** The most that a page of the service has. */
export const largestPage = 200;

export function countOf(rows: number): string {
  return rows.toLocaleString('en-US');
}

interface Reading<Row> {
  /** Reads the page behind a position; the first one without it. */
  readonly readPage: (after: string | undefined) => Promise<Page<Row>>;
  readonly most: number;
  readonly isStopped: () => boolean;
  /** After each page, with the number of rows so far. */
  readonly onRows: (rows: number) => void;
}

interface Read<Row> {
  readonly rows: readonly Row[];
  /** More rows fit than the file may have. */
  readonly isCut: boolean;
}

/**
 * All rows of a list, page by page and from its beginning, so that the file is newer than the rows on the screen. Undefined if it was stopped: a
 * part of a list is no file. Throws the error of the page that fails.
 */
export async function readAll<Row>({
  readPage,
  most,
  isStopped,
  onRows,
}: Reading<Row>): Promise<Read<Row> | undefined> {
  const rows: Row[] = [];
  let after: string | undefined;
  do {
    const page = await readPage(after);
    if (isStopped()) return undefined;
    rows.push(...page.items);
    after = page.next;
    onRows(Math.min(rows.length, most));
  } while (after !== undefined && rows.length < most);
  return { rows: rows.slice(0, most), isCut: rows.length > most || after !== undefined };
}
