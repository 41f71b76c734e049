/**
 * A file for a spreadsheet (RFC 4180). A text that a spreadsheet would run as a formula gets an apostrophe before it. Signs in full width count
 * as the plain ones in East Asian spreadsheets (OWASP, "CSV injection").
 */
export function csvOf(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  return [titles, ...rows].map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
}

function cellOf(text: string): string {
  const isAmount = /^-?\d+(?:\.\d+)?$/.test(text);
  const safe = !isAmount && /^[=+\-@\t\r\n＝＋－＠]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
