import type { Queryable } from '../../storage/index.ts';
import type { Place } from '../extract/extract-table.ts';
import { insertRejects, type RejectedRow } from './reject-queries.ts';

/** Collects the errors of rows between two writes to the stage. */
export class RejectedRows {
  /**
   * Files with a rejected row that names no known membership or account. Another key of the same file may then seem to have
   * lost a row.
   */
  readonly misplaced = new Set<string>();
  #unsaved: RejectedRow[] = [];

  add({ file, line, column }: Place, expected: string): void {
    this.#unsaved.push({ file, line, columnName: column, expected });
    if (column === '') this.misplaced.add(file);
  }

  async save(tx: Queryable): Promise<void> {
    const rows = this.#unsaved;
    this.#unsaved = [];
    if (rows.length > 0) await insertRejects(tx, rows);
  }
}
