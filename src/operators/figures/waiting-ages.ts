/** The bands of age of a transfer that waits, the youngest first. */
export const waitingAges = ['UNDER_15_MINUTES', 'UNDER_AN_HOUR', 'UNDER_A_DAY', 'OLDER'] as const;
export type WaitingAge = (typeof waitingAges)[number];

const minuteMillis = 60_000;
/** A transfer leaves each band at this age; nothing leaves the last. */
const endMillis = [15 * minuteMillis, 60 * minuteMillis, 24 * 60 * minuteMillis] as const;

/** The latest orders that are too old for each band, in the order of the bands. */
export function edgesOfAges(now: Date): readonly [Date, Date, Date] {
  const [first, second, third] = endMillis.map((millis) => new Date(now.getTime() - millis));
  return [first, second, third] as readonly [Date, Date, Date];
}

/** The orders of a band: behind `after`, up to and including `until`. Null: no bound. */
export function ordersOfAge(
  age: WaitingAge,
  now: Date,
): { readonly after: Date | null; readonly until: Date | null } {
  const place = waitingAges.indexOf(age);
  const edges = edgesOfAges(now);
  return { after: edges[place] ?? null, until: edges[place - 1] ?? null };
}
