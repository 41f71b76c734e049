/**
 * The directory of cells, in a database of its own (sql/directory): the cell of each institution, and the institution of each host name,
 * client and identity provider, and the public keys of each cell.
 *
 * Invariants: a name belongs to one institution over all cells; a publication takes nothing from another cell; every change stands in
 * the directory's audit. A cell serves its own institutions without the directory.
 */
export {
  CellDirectory,
  type CellNames,
  DirectoryRefusedError,
  type OwnCell,
  type Publication,
} from './cell-directory.ts';
export type { KeyOfOther, PublishedKey } from './key-queries.ts';
export type { PlacedElsewhere } from './name-queries.ts';
export type { Clue, Place } from './queries.ts';
