import type { RecordOutcome } from './record-book.ts';
import type { RecordKind, RecordLine } from './record-line.ts';
import type { RecordVersion } from './version-queries.ts';

const dayMillis = 24 * 60 * 60 * 1_000;

/** The kind of the records in a record's list. */
const kindOfDependants: Partial<Record<RecordKind, RecordKind>> = {
  member: 'memberPerson',
  account: 'holder',
};

/** The records of a line: itself, and the holders of an account or the persons of a membership in it. */
export function recordsOf({ kind, id, dependants }: RecordLine): Omit<RecordVersion, 'changedAt'>[] {
  return [
    { record: kind, recordId: id },
    ...dependants.map(({ person_id: personId = '' }) => ({
      record: kindOfDependants[kind] ?? kind,
      recordId: `${id}/${personId}`,
    })),
  ];
}

/**
 * The newest dated change of each record, as the lines before have left it. A line that is older than one of its records is stale.
 * A line without a time is neither stale nor kept.
 */
export class RecordVersions {
  readonly #newest: Map<string, RecordVersion>;
  readonly #news = new Map<string, RecordVersion>();

  constructor(standing: readonly RecordVersion[]) {
    this.#newest = new Map(standing.map((version) => [keyOf(version), version]));
  }

  /** The outcome of a line that must not be laid over what stands; undefined if it may. */
  refuse(line: RecordLine, now: Date): RecordOutcome | undefined {
    const { id, changedAt } = line;
    if (changedAt === undefined) return undefined;
    if (changedAt.getTime() < 0 || changedAt.getTime() > now.getTime() + dayMillis) {
      const detail = 'changedAt must be from 1970 on and at most a day ahead of the clock.';
      return { id, result: 'refused', code: 'date_out_of_range', detail };
    }
    const newer = recordsOf(line)
      .map((record) => this.#newest.get(keyOf(record)))
      .find((version) => version !== undefined && version.changedAt > changedAt);
    if (newer === undefined) return undefined;
    const { record, recordId } = newer;
    const stated = newer.changedAt.toISOString();
    return {
      id,
      result: 'stale',
      detail: `The ${record} ${recordId} stands with a change of ${stated}. Send what the core has now.`,
    };
  }

  /** The line stands: older ones of its records are stale from here on. */
  keep(line: RecordLine): void {
    const { changedAt } = line;
    if (changedAt === undefined) return;
    for (const record of recordsOf(line)) {
      const key = keyOf(record);
      const version = { ...record, changedAt };
      const before = this.#newest.get(key);
      if (before !== undefined && before.changedAt.getTime() === changedAt.getTime()) continue;
      this.#newest.set(key, version);
      this.#news.set(key, version);
    }
  }

  /** The versions that are newer than those that stand, in the order of their keys. */
  news(): RecordVersion[] {
    return [...this.#news].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, version]) => version);
  }
}

function keyOf({ record, recordId }: Omit<RecordVersion, 'changedAt'>): string {
  return `${record} ${recordId}`;
}
