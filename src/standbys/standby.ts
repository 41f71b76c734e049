import { setTimeout as sleep } from 'node:timers/promises';
import type { LogPosition } from '../memory/index.ts';
import { Problem } from '../shared/problem.ts';
import {
  Database,
  DatabaseStartError,
  type InstitutionId,
  type Queryable,
  refuseOtherSettings,
  refuseTransactionPooling,
  refuseUnfitLogin,
  sqlStateOf,
} from '../storage/index.ts';
import { type ServerState, selectState } from './state-queries.ts';

/**
 * `current` takes reads. `behind` replays, and not everything. `other` is no standby of the primary: it was promoted, or follows
 * another timeline. `away` cannot be reached. `unfit` has a login or a pooler that the service does not use.
 */
export const standbyStates = ['current', 'behind', 'other', 'away', 'unfit'] as const;
export type StandbyState = (typeof standbyStates)[number];

/** The reason why a read went to the primary after all. */
export type Refusal = 'behind' | 'other' | 'cancelled' | 'failed' | 'away';

/** A server froze, or a read takes longer than history may: its connections end, and the primary answers. */
const silenceMillis = 2_000;
const settings = { default_transaction_read_only: 'on', statement_timeout: '2s' };

/** How often an examination looks whether the standby has caught up, and the pause between. */
const looks = 10;
const pauseMillis = 20;

/** The rows that every institution may see are enough for an examination. */
const noInstitution = 0 as InstitutionId;

export interface StandbyOptions {
  readonly url: string;
  readonly maxConnections: number;
  readonly sessionSettings: Readonly<Record<string, string>>;
  readonly mayOwnerServe: boolean;
  readonly requireServed: (institutionId: InstitutionId) => void;
}

/** One server that may follow the primary. */
export class Standby {
  readonly #url: string;
  readonly #database: Database;
  readonly #mayOwnerServe: boolean;
  #isFit = false;

  constructor({ url, maxConnections, sessionSettings, mayOwnerServe, requireServed }: StandbyOptions) {
    this.#url = url;
    this.#mayOwnerServe = mayOwnerServe;
    this.#database = new Database({
      connection: url,
      maxConnections,
      settings: { ...sessionSettings, ...settings },
      silenceMillis,
      requireServed,
    });
  }

  /**
   * The result of the work if the server has replayed the position, else the reason why not. The state is asked over the connection
   * of the work and before it: a server that was restarted may be at an earlier moment, and has ended the connection. A Problem of
   * the work itself is thrown.
   */
  async read<T>(
    seen: LogPosition,
    institutionId: InstitutionId,
    work: (db: Queryable) => Promise<T>,
  ): Promise<{ readonly result: T } | Refusal> {
    try {
      return await this.#database.read(institutionId, async (db) => {
        const refusal = refusalOf(await selectState(db, seen));
        return refusal ?? { result: await work(db) };
      });
    } catch (error) {
      if (error instanceof Problem && error.code === 'database_unavailable') return 'away';
      const state = sqlStateOf(error);
      if (state === undefined) throw error;
      // 40001 and 40P01: the replay needs a row or a page that the read holds up.
      return state.startsWith('40') ? 'cancelled' : 'failed';
    }
  }

  /** Gives a standby that is a moment behind some time. DatabaseStartError if it is unfit; other errors if it is away. */
  async examine(seen: LogPosition): Promise<StandbyState> {
    if (!this.#isFit) {
      await refuseUnfitLogin(this.#database, this.#mayOwnerServe);
      await refuseOtherSettings(this.#database);
      await refuseTransactionPooling(this.#url);
      this.#isFit = true;
    }
    for (let look = 1; ; look += 1) {
      const state = await this.#database.read(noInstitution, (db) => selectState(db, seen));
      const refusal = refusalOf(state);
      if (refusal !== 'behind' || look === looks) return refusal ?? 'current';
      await sleep(pauseMillis);
    }
  }

  close(): Promise<void> {
    return this.#database.close();
  }
}

function refusalOf({ isStandby, isOfTimeline, hasReplayed }: ServerState): 'behind' | 'other' | undefined {
  if (!isStandby) return 'other';
  // A standby that has yet to replay a promotion is behind as well.
  if (!hasReplayed) return 'behind';
  return isOfTimeline ? undefined : 'other';
}

export function isUnfit(error: unknown): boolean {
  return error instanceof DatabaseStartError;
}
