import type { BusinessTime } from '../../institutions/index.ts';
import { Problem } from '../../shared/problem.ts';
import { within } from '../../shared/within.ts';
import type { Clock, Database, InstitutionId } from '../../storage/index.ts';
import { selectSessions } from '../access/session-queries.ts';
import { isIdle, type SignedInOperator } from '../access/sessions.ts';
import { todaysFigures } from '../figures/todays-figures.ts';
import { institutionOf } from '../institutions/institution-of.ts';
import { marksOf, readId } from './marks.ts';
import { selectPulse } from './pulse-queries.ts';
import { type LiveState, LiveStream, type StreamEnd } from './stream.ts';

interface Deps {
  readonly database: Database;
  readonly clock: Clock;
  readonly businessTime: BusinessTime;
  readonly onError?: (error: unknown, institutionId: InstitutionId) => void;
}

/** Times and limits. Tests have shorter ones. */
export interface LiveLimits {
  /** The time between two questions to the database. A session that has ended keeps its stream at most this long. */
  readonly tickMillis: number;
  /** The figures are read again after this time, also if nothing has happened: minutes go by. */
  readonly figuresMillis: number;
  /** A stream without a message for this time gets one. */
  readonly beatMillis: number;
  /** A reader that does not take its message for this time is cut off. */
  readonly slowMillis: number;
  /** Streams end if the database has not confirmed their sessions for this time. */
  readonly uncheckedMillis: number;
  readonly streamsOfOperator: number;
  readonly streamsOfProcess: number;
}

const usual: LiveLimits = {
  ...{ tickMillis: 2_000, figuresMillis: 10_000, beatMillis: 15_000, slowMillis: 15_000 },
  ...{ uncheckedMillis: 10_000, streamsOfOperator: 20, streamsOfProcess: 1_000 },
};

/** The figures are read at most for this share of the time, however long the day's transfers take to read. */
const figuresShare = 10;

interface Board {
  readonly institutionId: InstitutionId;
  readonly streams: Set<LiveStream>;
  state: LiveState | undefined;
  /** The part of the pulse after which the figures are others. */
  transfers: string;
  figuresFrom: string | undefined;
  figuresAt: number;
  nextFiguresAt: number;
  isReadingFigures: boolean;
  checkedAt: number;
  timer: NodeJS.Timeout | undefined;
}

/**
 * The open consoles of this process. For all those of an institution together it asks the database one question a tick, about their
 * sessions and about changes. The figures of Today are read when a transfer has come, and at least every ten seconds.
 */
export class LiveConsoles {
  readonly #deps: Deps;
  readonly #limits: LiveLimits;
  readonly #boards = new Map<InstitutionId, Board>();
  #isStopped = false;

  constructor(deps: Deps, limits: Partial<LiveLimits> = {}) {
    this.#deps = deps;
    this.#limits = { ...usual, ...limits };
  }

  /**
   * A stream for an operator until `left`. Problems `too_many_requests` and `overloaded` beyond the limits, `shutting_down`.
   */
  open(
    operator: SignedInOperator,
    { lastId, left }: { readonly lastId: string | undefined; readonly left: AbortSignal },
  ): LiveStream {
    if (this.#isStopped) throw new Problem('shutting_down', 'The service is about to stop.');
    this.#requireRoom(operator);
    const board = this.#boardOf(operator.institutionId);
    const { beatMillis, slowMillis } = this.#limits;
    const seen = readId(lastId);
    const stream = new LiveStream(operator, { seen, beatMillis, slowMillis, stateOf: () => board.state });
    board.streams.add(stream);
    const leave = () => {
      stream.end('left');
      board.streams.delete(stream);
      if (board.streams.size === 0) this.#forget(board);
    };
    left.addEventListener('abort', leave);
    if (left.aborted) leave();
    return stream;
  }

  /** Ends every stream with a word. */
  close(): void {
    this.#isStopped = true;
    for (const board of this.#boards.values()) endAll(board, 'stopping');
  }

  #requireRoom({ institutionId, operatorId }: SignedInOperator): void {
    const { streamsOfOperator, streamsOfProcess } = this.#limits;
    const all = [...this.#boards.values()].reduce((sum, { streams }) => sum + streams.size, 0);
    if (all >= streamsOfProcess)
      throw new Problem('overloaded', 'The service has as many streams open as it can.', {
        retryAfterSeconds: 30,
      });
    const standing = this.#boards.get(institutionId)?.streams ?? new Set<LiveStream>();
    const own = [...standing].filter(({ operator }) => operator.operatorId === operatorId);
    if (own.length >= streamsOfOperator)
      throw new Problem('too_many_requests', `You have ${streamsOfOperator} streams open. Close one first.`, {
        retryAfterSeconds: 30,
      });
  }

  #boardOf(institutionId: InstitutionId): Board {
    const known = this.#boards.get(institutionId);
    if (known !== undefined) return known;
    const now = performance.now();
    const board: Board = {
      ...{ institutionId, streams: new Set<LiveStream>(), state: undefined, transfers: '' },
      ...{ figuresFrom: undefined, figuresAt: now, nextFiguresAt: now, isReadingFigures: false },
      ...{ checkedAt: now, timer: undefined },
    };
    this.#boards.set(institutionId, board);
    board.timer = setTimeout(() => void this.#tick(board), 0);
    return board;
  }

  #forget(board: Board): void {
    clearTimeout(board.timer);
    if (this.#boards.get(board.institutionId) === board) this.#boards.delete(board.institutionId);
  }

  async #tick(board: Board): Promise<void> {
    const { tickMillis, uncheckedMillis } = this.#limits;
    const begun = performance.now();
    const look = this.#look(board).catch((error) => this.#deps.onError?.(error, board.institutionId));
    // A database that is silent must not keep streams of sessions that have ended.
    await within(Math.max(1, uncheckedMillis - (begun - board.checkedAt)), look);
    if (performance.now() - board.checkedAt >= uncheckedMillis) endAll(board, 'unchecked');
    for (const stream of board.streams) stream.turn();
    if (this.#boards.get(board.institutionId) !== board) return;
    const wait = Math.max(0, tickMillis - (performance.now() - begun));
    board.timer = setTimeout(() => void this.#tick(board), wait);
  }

  async #look(board: Board): Promise<void> {
    const { database, clock } = this.#deps;
    const { institutionId, streams } = board;
    const begun = performance.now();
    const now = clock();
    const asked = [...streams];
    const sessionIds = [...new Set(asked.map(({ operator }) => operator.sessionId))];
    const [pulse, sessions] = await database.read(institutionId, (db) =>
      Promise.all([selectPulse(db, now), selectSessions(db, sessionIds, now)]),
    );
    const standing = new Map(sessions.map((session) => [session.sessionId, session]));
    for (const stream of asked) {
      const { sessionId, roles } = stream.operator;
      const session = standing.get(sessionId);
      if (session === undefined || isIdle(session, now)) stream.end('session');
      else if (session.roles.toSorted().join() !== roles.toSorted().join()) stream.end('roles');
    }
    board.checkedAt = begun;
    board.transfers = `${pulse.transfers} ${pulse.review}`;
    board.state = { marks: marksOf(pulse), figures: board.state?.figures };
    this.#readFiguresIfDue(board);
  }

  /** Beside the ticks, since the day of a large institution takes longer to read than a tick. */
  #readFiguresIfDue(board: Board): void {
    const begun = performance.now();
    const isOld = begun - board.figuresAt >= this.#limits.figuresMillis;
    const isOther = board.figuresFrom !== board.transfers;
    if (board.isReadingFigures || begun < board.nextFiguresAt || !(isOld || isOther)) return;
    board.isReadingFigures = true;
    const from = board.transfers;
    const read = async () => {
      const institution = await institutionOf(this.#deps, board.institutionId);
      const figures = JSON.stringify(await todaysFigures(this.#deps, institution));
      if (board.state !== undefined) board.state = { ...board.state, figures };
      board.figuresFrom = from;
      board.figuresAt = begun;
      for (const stream of board.streams) stream.turn();
    };
    read()
      .catch((error) => this.#deps.onError?.(error, board.institutionId))
      .finally(() => {
        board.isReadingFigures = false;
        board.nextFiguresAt = performance.now() + figuresShare * (performance.now() - begun);
      });
  }
}

function endAll({ streams }: Board, why: StreamEnd): void {
  for (const stream of streams) stream.end(why);
}
