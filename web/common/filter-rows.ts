/** The part of a column that the filter reads. */
interface Filtered<Row> {
  readonly text: (row: Row) => string;
  readonly inFile?: (row: Row) => string;
}

/** The rows that have every word of a text in some column, in any letter case. The same array if the text has no word. */
export function filterRows<Row>(
  columns: readonly Filtered<Row>[],
  rows: readonly Row[],
  text: string,
): readonly Row[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  return rows.filter((row) => {
    const texts = columns.flatMap(({ text: shown, inFile }) => [shown(row), inFile?.(row) ?? '']);
    const whole = texts.join('\n').toLowerCase();
    return words.every((word) => whole.includes(word));
  });
}
