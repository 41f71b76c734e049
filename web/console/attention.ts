/*
 * Whether a person is at the page. A session ends half an hour after its last use, and a page that reads news by itself uses none: each request
 * without a key, a press or a turn of the wheel in the last minute says so.
 */

const attendedMillis = 60_000;

// Somebody has just opened the page.
let touchedAt = Date.now();

export function isAttended(): boolean {
  return Date.now() - touchedAt < attendedMillis;
}

/** A sign of a person. */
export function touch(): void {
  touchedAt = Date.now();
}
