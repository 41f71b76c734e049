import { compareAmounts } from '../design/format/money.ts';
import type { Order } from './order.ts';

/** The part of a column that an order reads. */
interface Sorted<Row> {
  readonly text: (row: Row) => string;
  readonly isNumeric?: boolean;
}

/** The rows in an order; the same array without one. Equal rows stay as they came. */
export function sortRows<Row>(
  columns: readonly Sorted<Row>[],
  rows: readonly Row[],
  order: Order | undefined,
): readonly Row[] {
  const column = order && columns[order.at];
  const sign = order?.isDescending ? -1 : 1;
  return column ? rows.toSorted((left, right) => sign * compare(column, left, right)) : rows;
}

/** Amounts by their value, and digit by digit: they may be longer than a double. */
function compare<Row>({ text, isNumeric }: Sorted<Row>, left: Row, right: Row): number {
  const [one, other] = [text(left), text(right)];
  return isNumeric ? compareAmounts(one, other) : one.localeCompare(other);
}
