/*
 * The rule of freshness, over a recorded history. A subject is one thing that reads show: a balance, a phone number, the state
 * of a token. Its writes have an order; a read shows the value of one of them. Times are of one monotonic clock.
 */

export interface Write {
  readonly value: string;
  readonly start: number;
  /** The acknowledgement. */
  readonly end: number;
}

export interface Read {
  readonly value: string;
  readonly start: number;
  readonly end: number;
  /** The process, the token and the request. */
  readonly by: string;
}

/** The writes of a subject in the order in which they took effect; the first is the state before the history. */
export interface History {
  readonly subject: string;
  readonly writes: readonly Write[];
  readonly reads: readonly Read[];
}

export interface Anomaly {
  readonly subject: string;
  /**
   * `stale`: a newer write was acknowledged before the read began. `backward`: an earlier read had shown a newer state.
   * `unwritten`: no write that began before the end of the read has this value.
   */
  readonly kind: 'stale' | 'backward' | 'unwritten';
  readonly read: Read;
  /** The write or the read that the state is older than. */
  readonly newer: Write | Read | undefined;
}

/** A read that has been matched with the place of a write. */
interface Matched {
  readonly read: Read;
  readonly place: number;
}

/**
 * Returns the reads that no order of the history allows. Values may repeat: each read, in the order of their starts, is taken
 * for the oldest write that fits, which leaves the most room for the reads after it.
 */
export function findAnomalies({ subject, writes, reads }: History): Anomaly[] {
  const places = new Map<string, number[]>();
  for (const [place, { value }] of writes.entries()) {
    places.set(value, [...(places.get(value) ?? []), place]);
  }
  const newestAcknowledged = newestEndedBefore(writes.map((write, place) => ({ end: write.end, place })));
  const byStart = reads.toSorted((a, b) => a.start - b.start);
  const byEnd = reads.toSorted((a, b) => a.end - b.end);
  const placeOf = new Map<Read, number>();
  let ended = 0;
  let seen: Matched | undefined;
  const anomalies: Anomaly[] = [];
  for (const read of byStart) {
    // Each of these began before `read`, so it is matched already, or it is an anomaly itself.
    for (; ended < byEnd.length && (byEnd[ended] as Read).end < read.start; ended += 1) {
      const before = byEnd[ended] as Read;
      const place = placeOf.get(before) ?? -1;
      if (place > (seen?.place ?? -1)) seen = { read: before, place };
    }
    const acknowledged = newestAcknowledged(read.start);
    const possible = (places.get(read.value) ?? []).filter(
      (place) => (writes[place] as Write).start < read.end,
    );
    const oldest = Math.max(acknowledged, seen?.place ?? -1);
    const place = possible.find((one) => one >= oldest);
    if (place !== undefined) placeOf.set(read, place);
    else if (possible.length === 0) anomalies.push({ subject, kind: 'unwritten', read, newer: undefined });
    else if ((possible.at(-1) as number) < acknowledged) {
      anomalies.push({ subject, kind: 'stale', read, newer: writes[acknowledged] });
    } else anomalies.push({ subject, kind: 'backward', read, newer: seen?.read });
  }
  return anomalies;
}

/** Returns a function from a time to the highest place among the items that ended before it, or -1. */
function newestEndedBefore(items: readonly { readonly end: number; readonly place: number }[]) {
  const byEnd = items.toSorted((a, b) => a.end - b.end);
  let highest = -1;
  const highestUpTo = byEnd.map(({ place }) => {
    highest = Math.max(highest, place);
    return highest;
  });
  return (time: number): number => {
    let [low, high] = [0, byEnd.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((byEnd[middle]?.end ?? 0) < time) low = middle + 1;
      else high = middle;
    }
    return highestUpTo[low - 1] ?? -1;
  };
}
