/** A file for a spreadsheet (RFC 4180). A text that a spreadsheet would run as a formula begins with an apostrophe. */
export function csvOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const isAmount = /^-?\d+(?:\.\d+)?$/.test(text);
  const safe = !isAmount && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
