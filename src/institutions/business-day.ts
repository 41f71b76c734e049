const formats = new Map<string, Intl.DateTimeFormat>();

/** The calendar day of a moment where the institution is, as YYYY-MM-DD. */
export function businessDay(at: Date, timeZone: string): string {
  let format = formats.get(timeZone);
  if (format === undefined) {
    // The only English locale whose short dates are ISO 8601.
    format = new Intl.DateTimeFormat('en-CA', {
      timeZone,
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    });
    formats.set(timeZone, format);
  }
  return format.format(at);
}
