import {
  type BatchMessage,
  type DeliveryMessage,
  type OrderResult,
  type RequestMessage,
  type ScreeningMessage,
  type SignInMessage,
  type StatementMessage,
  seams,
} from '../shared/seams.ts';
import type { Registry } from './registry.ts';

/** A statement takes longer only behind a lock or in a database that is in trouble. */
const statementBounds = [0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10];
const batchBounds = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS']);

/**
 * Counts the requests, statements, batches, sign-ins and deliveries of this process. Durations of requests and statements have the names and
 * labels of OpenTelemetry's semantic conventions. Returns a function that stops it.
 */
export function watchSeams(metrics: Registry): () => void {
  const stops = [
    watchRequests(metrics),
    watchStatements(metrics),
    watchBatches(metrics),
    watchSignIns(metrics),
    watchScreenings(metrics),
    watchDeliveries(metrics),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

function watchRequests(metrics: Registry): () => void {
  const durations = metrics.histogram(
    {
      name: 'http_server_request_duration_seconds',
      help: 'Requests by route, until the last byte of the response is handed to the kernel.',
    },
    'http_request_method',
    'http_route',
    'http_response_status_code',
  );
  const problems = metrics.counter(
    {
      name: 'sharedraft_problems_total',
      help: 'Responses with a problem document or an OAuth error, by code.',
    },
    'code',
  );
  const hangUps = metrics.counter(
    {
      name: 'sharedraft_hang_ups_total',
      help: 'Requests whose caller left before the response was complete.',
    },
    'http_route',
  );
  const listener = {
    asyncEnd: ({ method, route = '', status, code, seconds, isHangUp, isStream }: RequestMessage) => {
      if (isStream && code === undefined) return;
      if (isHangUp) return hangUps.with(route).add();
      durations.with(methods.has(method) ? method : '_OTHER', route, String(status)).observe(seconds);
      if (code !== undefined) problems.with(code).add();
    },
  };
  seams.request.subscribe(listener);
  return () => seams.request.unsubscribe(listener);
}

function watchStatements(metrics: Registry): () => void {
  const durations = metrics.histogram(
    {
      name: 'db_client_operation_duration_seconds',
      help: 'Statements by name, from their submission to the response to their packet.',
      bounds: statementBounds,
    },
    'db_query_summary',
  );
  const failures = metrics.counter(
    { name: 'sharedraft_statement_failures_total', help: 'Failed statements, by name and SQLSTATE.' },
    'db_query_summary',
    'db_response_status_code',
  );
  const listener = {
    asyncEnd: ({ statement, startedAt }: StatementMessage) =>
      durations.with(statement).observe((performance.now() - startedAt) / 1000),
    error: ({ statement, error }: StatementMessage) => failures.with(statement, stateOf(error)).add(),
  };
  seams.statement.subscribe(listener);
  return () => seams.statement.unsubscribe(listener);
}

/** The SQLSTATE of the server's error. The error of a broken connection has none. */
function stateOf(error: unknown): string {
  const code = error instanceof Error && 'severity' in error && 'code' in error ? String(error.code) : '';
  return /^[0-9A-Z]{5}$/.test(code) ? code : 'connection';
}

function watchBatches(metrics: Registry): () => void {
  const sizes = metrics.histogram({
    name: 'sharedraft_batch_orders',
    help: 'Orders of a batch, which share one commit.',
    bounds: batchBounds,
  });
  const waits = metrics.histogram({
    name: 'sharedraft_batch_wait_seconds',
    help: 'Time of an order in the queue, until its batch began.',
  });
  const durations = metrics.histogram(
    { name: 'sharedraft_batch_duration_seconds', help: 'Runs of batches, commit included, by outcome.' },
    'outcome',
  );
  const orders = metrics.counter(
    {
      name: 'sharedraft_orders_total',
      help: 'Orders that were decided, by result, status of the transfer and failure code.',
    },
    'result',
    'status',
    'code',
  );
  const listener = {
    asyncEnd: ({ orders: those, waitedMillis, startedAt, result, error }: BatchMessage) => {
      sizes.with().observe(those.length);
      for (const millis of waitedMillis) waits.with().observe(millis / 1000);
      durations
        .with(error === undefined ? 'settled' : 'failed')
        .observe((performance.now() - startedAt) / 1000);
      for (const { kind, transfer } of (result ?? []) as readonly OrderResult[])
        orders.with(kind, transfer?.status ?? '', transfer?.failureCode ?? '').add();
    },
  };
  seams.batch.subscribe(listener);
  return () => seams.batch.unsubscribe(listener);
}

function watchSignIns(metrics: Registry): () => void {
  const signIns = metrics.counter(
    { name: 'sharedraft_sign_ins_total', help: 'Token requests by grant and outcome.' },
    'grant',
    'outcome',
  );
  const listener = (message: unknown) => {
    const { grant, outcome } = message as SignInMessage;
    signIns.with(grant, outcome).add();
  };
  seams.signIn.subscribe(listener);
  return () => seams.signIn.unsubscribe(listener);
}

function watchScreenings(metrics: Registry): () => void {
  const screenings = metrics.counter(
    {
      name: 'sharedraft_screenings_total',
      help: 'Verdicts of screening on orders, and whether the hook answered.',
    },
    'verdict',
    'answer',
  );
  const listener = (message: unknown) => {
    const { verdict, answer } = message as ScreeningMessage;
    screenings.with(verdict.toLowerCase(), answer.toLowerCase()).add();
  };
  seams.screening.subscribe(listener);
  return () => seams.screening.unsubscribe(listener);
}

function watchDeliveries(metrics: Registry): () => void {
  const durations = metrics.histogram(
    {
      name: 'sharedraft_delivery_duration_seconds',
      help: 'Requests that the service sent, such as webhooks, by outcome: accepted, or a reason.',
    },
    'kind',
    'outcome',
  );
  const listener = {
    asyncEnd: ({ kind, outcome = 'failed', seconds = 0 }: DeliveryMessage) =>
      durations.with(kind, outcome.replace(/^(status_\d)\d\d$/, '$1xx')).observe(seconds),
  };
  seams.delivery.subscribe(listener);
  return () => seams.delivery.unsubscribe(listener);
}
