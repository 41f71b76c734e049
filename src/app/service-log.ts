import { Writable } from 'node:stream';
import { pino } from 'pino';
import { PinoPretty } from 'pino-pretty';
import { describeError } from '../shared/describe-error.ts';

/** Logs an event of the service itself. With `error` in the details it is a failure. */
export type Log = (event: string, details?: object) => void;

export interface ServiceLog {
  /** Takes one JSON document per line. Never waits for its reader. */
  readonly stream: { write(line: string): void };
  readonly log: Log;
  /** Undefined except at the levels debug and trace. */
  readonly debug: Log | undefined;
}

/** Lines are dropped while more unread bytes than this wait. */
const mostUnreadBytes = 2 ** 20;
const failurePauseMillis = 60_000;

/** Events that an operator should look at. */
const warnings: ReadonlySet<string> = new Set([
  'commits_wait',
  'commits_wait_for_standby',
  'database_down',
  'event_epoch_began',
  'institution_closed',
  'large_objects_open',
  'standby_skipped',
  'stop_timed_out',
  'worker_ended',
]);

/**
 * The service's log on standard output: text at a terminal, otherwise a JSON document per line. Each kind of failure is
 * logged at most once a minute, with the number of unlogged ones.
 */
export function openServiceLog(
  level: string,
  output: Writable & { isTTY?: boolean } = process.stdout,
): ServiceLog {
  const bounded = boundedLines(output);
  const stream = output.isTTY ? forPeople(bounded) : bounded;
  const logger = pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, stream);
  const failures = new Map<string, { readonly loggedAt: number; unlogged: number }>();
  const log: Log = (event, details = {}) => {
    const { error, ...more } = details as { readonly error?: unknown };
    const message = event.replaceAll('_', ' ');
    if (error === undefined) {
      logger[warnings.has(event) ? 'warn' : 'info']({ event, ...more }, message);
      return;
    }
    const before = failures.get(event);
    const now = performance.now();
    if (before !== undefined && now - before.loggedAt < failurePauseMillis) {
      before.unlogged += 1;
      return;
    }
    failures.set(event, { loggedAt: now, unlogged: 0 });
    const unlogged = before?.unlogged || undefined;
    logger.error({ event, ...more, unlogged, error: describeError(error) }, message);
  };
  const debug: Log = (event, details = {}) => logger.debug({ event, ...details }, event.replaceAll('_', ' '));
  return { stream, log, debug: logger.isLevelEnabled('debug') ? debug : undefined };
}

/** Standard output to a pipe buffers unread lines in memory, so a stalled reader must not fill it. */
function boundedLines(output: Writable): { write(line: string): void } {
  let dropped = 0;
  // Without a listener, a full disk or a reader that left would end the process.
  output.on('error', () => {});
  return {
    write(line) {
      if (output.writableLength > mostUnreadBytes) {
        dropped += 1;
        return;
      }
      if (dropped > 0) {
        const notice = {
          level: 40,
          time: new Date().toISOString(),
          event: 'log_lines_dropped',
          lines: dropped,
        };
        output.write(`${JSON.stringify({ ...notice, msg: 'log lines dropped' })}\n`);
        dropped = 0;
      }
      output.write(line);
    },
  };
}

function forPeople(destination: { write(line: string): void }) {
  return PinoPretty({
    singleLine: true,
    ignore: 'pid,hostname,event,transactionId,method,route,operation,status,millis,address',
    messageFormat: ({ msg, method, route, status, millis }) =>
      status === undefined ? String(msg) : `${method} ${route ?? '(no such path)'} ${status} in ${millis} ms`,
    destination: new Writable({
      write(lines, _encoding, done) {
        destination.write(String(lines));
        done();
      },
    }),
  });
}
