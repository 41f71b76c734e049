import type { LogPosition } from '../memory/index.ts';
import { type Repeated, repeatedly } from '../shared/process/repeatedly.ts';
import { oneUrlPerHost } from '../shared/text/database-urls.ts';
import { within } from '../shared/within.ts';
import type { InstitutionId, Queryable, Reads } from '../storage/index.ts';
import { isUnfit, type Refusal, Standby, type StandbyOptions, type StandbyState } from './standby.ts';

const examinationMillis = 1_000;
/** An examination that takes longer finds a server that is away. */
const patienceMillis = 1_500;

/** The reason why a read went where it went. `skipped`: no standby was current. */
type ReadOutcome = 'current' | 'skipped' | Refusal;

export interface StandbysOptions extends Omit<StandbyOptions, 'url'> {
  /** One or several hosts. */
  readonly url: string;
  readonly primary: Reads;
  /** Asks the primary for the position of its log. Null if it cannot be reached. */
  readonly position: () => Promise<LogPosition | null>;
  readonly log: (event: string, details?: object) => void;
}

interface Member {
  readonly host: string;
  readonly standby: Standby;
  state: StandbyState;
  /** When it was last found to have everything, by performance.now(). */
  currentAt: number;
  examining: Promise<void> | undefined;
}

/**
 * Reads of history from standbys. A read goes to a standby only if an examination of the last second found it current, and the
 * read's own question finds that it has replayed the caller's position; else to the primary, at once.
 */
export class Standbys {
  readonly #members: readonly Member[];
  readonly #primary: Reads;
  readonly #position: StandbysOptions['position'];
  readonly #log: StandbysOptions['log'];
  readonly #counts = new Map<ReadOutcome, number>();
  readonly #examinations: Repeated;
  #turn = 0;

  constructor({ url, primary, position, log, ...options }: StandbysOptions) {
    this.#members = oneUrlPerHost(url).map((one) => ({
      host: hostOf(one),
      standby: new Standby({ ...options, url: one }),
      state: 'away',
      currentAt: performance.now(),
      examining: undefined,
    }));
    this.#primary = primary;
    this.#position = position;
    this.#log = log;
    const onError = (error: unknown) => log('standbys_not_examined', { error });
    this.#examinations = repeatedly(() => this.examine(), { everyMillis: examinationMillis, onError });
  }

  /** The reads of a caller who may have seen everything up to the position; null: only the primary answers. */
  reads(seen: LogPosition | null): Reads {
    return seen === null
      ? this.#primary
      : { read: (institutionId, work) => this.#read(seen, institutionId, work) };
  }

  /** The servers by state. */
  get states(): readonly StandbyState[] {
    return this.#members.map(({ state }) => state);
  }

  /** Reads of history since the start, by outcome: `current` are those that a standby answered. */
  get counts(): ReadonlyMap<ReadOutcome, number> {
    return this.#counts;
  }

  /** Time since a standby was last found to have everything; 0 while one is current. */
  get lagSeconds(): number {
    const now = performance.now();
    return Math.min(
      ...this.#members.map(({ state, currentAt }) => (state === 'current' ? 0 : (now - currentAt) / 1000)),
    );
  }

  /** Examines all servers at once. It runs each second by itself. */
  async examine(): Promise<void> {
    const seen = await this.#position();
    if (seen === null) return;
    await Promise.all(this.#members.map((member) => this.#examineOne(member, seen)));
  }

  async close(): Promise<void> {
    await this.#examinations.stop();
    await Promise.all(this.#members.map(({ standby }) => standby.close()));
  }

  async #read<T>(
    seen: LogPosition,
    institutionId: InstitutionId,
    work: (db: Queryable) => Promise<T>,
  ): Promise<T> {
    const member = this.#next();
    const outcome = member === undefined ? 'skipped' : await member.standby.read(seen, institutionId, work);
    this.#count(typeof outcome === 'object' ? 'current' : outcome);
    if (typeof outcome === 'object') return outcome.result;
    if (member !== undefined && (outcome === 'away' || outcome === 'other')) this.#become(member, outcome);
    return this.#primary.read(institutionId, work);
  }

  /** The current standbys take turns. */
  #next(): Member | undefined {
    const current = this.#members.filter(({ state }) => state === 'current');
    this.#turn += 1;
    return current[this.#turn % current.length];
  }

  #count(outcome: ReadOutcome): void {
    this.#counts.set(outcome, (this.#counts.get(outcome) ?? 0) + 1);
  }

  async #examineOne(member: Member, seen: LogPosition): Promise<void> {
    if (member.examining !== undefined) return;
    const examining = member.standby.examine(seen).then(
      (state) => this.#become(member, state),
      (error) => {
        if (isUnfit(error)) this.#log('standby_refused', { host: member.host, error });
        this.#become(member, isUnfit(error) ? 'unfit' : 'away');
      },
    );
    member.examining = examining.finally(() => {
      member.examining = undefined;
    });
    // The examination goes on, and the next one waits for it.
    if (!(await within(patienceMillis, examining))) this.#become(member, 'away');
  }

  #become(member: Member, state: StandbyState): void {
    if (state === 'current') member.currentAt = performance.now();
    if (state === member.state) return;
    member.state = state;
    const { host } = member;
    if (state === 'current') this.#log('standby_takes_reads', { host });
    else this.#log('standby_skipped', { host, state });
  }
}

/** Without the login. */
function hostOf(url: string): string {
  const { host, searchParams } = new URL(url);
  return searchParams.get('host') ?? host;
}
