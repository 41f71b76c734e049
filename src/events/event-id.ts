const wholeNumber = '(0|[1-9]\\d{0,19})';
const eventId = new RegExp(`^${wholeNumber}-${wholeNumber}-${wholeNumber}$`);
/** PostgreSQL's types: integer, xid8, bigint. */
const most = [2n ** 31n - 1n, 2n ** 64n - 1n, 2n ** 63n - 1n] as const;

/** The position of an event in the feed, unique forever. */
export interface EventPlace {
  readonly epoch: number;
  readonly xid: bigint;
  readonly eventKey: bigint;
}

/** The public id of the event at this position. */
export function eventIdOf({ epoch, xid, eventKey }: EventPlace): string {
  return `${epoch}-${xid}-${eventKey}`;
}

/** Undefined for text that `eventIdOf` never returns, including numbers that the database cannot hold. */
export function placeOf(text: string): EventPlace | undefined {
  const numbers = eventId.exec(text)?.slice(1).map(BigInt);
  if (numbers === undefined || most.some((limit, place) => (numbers[place] as bigint) > limit))
    return undefined;
  const [epoch, xid, eventKey] = numbers as [bigint, bigint, bigint];
  return { epoch: Number(epoch), xid, eventKey };
}
