/**
 * Cells: services with a database each, and the move of an institution from one to another while both serve.
 *
 * Invariants: an institution is served by one cell at most; no change is acknowledged at the source once the target opens, and every row
 * stands at the target before that; a move that was interrupted at any point can be repeated, and undone until the target opens.
 */
export { MoveRefusedError } from './check.ts';
export {
  confirmMove,
  type MoveDeps,
  type MoveStep,
  moveInstitution,
  moveSteps,
  undoMove,
} from './move.ts';
export { describeSettings, readPublication } from './publish.ts';
export { closeMovedSince, findMovedSince, letGoOfMoved } from './restored.ts';
export { setCell, type WantedCell } from './set-cell.ts';
export { nameAway, openSide, type Side, SideAwayError } from './side.ts';
