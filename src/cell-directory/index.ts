/**
 * The directory of cells, in a database of its own (sql/directory): the cell of each institution, and the institution of each host name,
 * client and identity provider.
 *
 * Invariants: a name belongs to one institution over all cells; a publication takes nothing from another cell; every change stands in
 * the directory's audit. A cell serves its own institutions without the directory.
 */
export {
  CellDirectory,
  type CellNames,
  DirectoryRefusedError,
  type OwnCell,
} from './cell-directory.ts';
export type { Clue } from './queries.ts';
