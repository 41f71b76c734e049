import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { context, propagation, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { type DeliveryMessage, seams } from '../../src/shared/seams.ts';
import { clientOf, type DemoCaller, memberOf, paths } from '../support/demo.ts';
import { demoAddress, operatorOf } from '../support/operators.ts';
import { eventually } from '../support/processes.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { startReceiver } from '../webhooks/receiver.ts';

/* The preload of ops/opentelemetry with an SDK that keeps its spans in memory. */

const exporter = new InMemorySpanExporter();
let service: TestService;
let member: DemoCaller;
before(async () => {
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
  propagation.setGlobalPropagator(new W3CTraceContextPropagator());
  trace.setGlobalTracerProvider(
    new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] }),
  );
  await import('../../ops/opentelemetry/tracer.mjs' as string);
  service = await startTestService({ environment: demoAddress });
  member = await memberOf(service, 'demo.member', 'demo-member-password');
});
after(() => service.close());

const order = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings', amount: 1 };
const traceId = '0af7651916cd43dd8448eb211c80319c';
const parentSpanId = 'b7ad6b7169203331';
const traceparent = `00-${traceId}-${parentSpanId}-01`;

async function spanOf(matches: (span: ReadableSpan) => boolean): Promise<ReadableSpan> {
  const find = () => exporter.getFinishedSpans().find(matches);
  await eventually('a span', async () => find() !== undefined);
  return find() as ReadableSpan;
}
const childrenOf = (parent: ReadableSpan) =>
  exporter
    .getFinishedSpans()
    .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parent.spanContext().spanId);

test('a request continues the trace of its caller', async () => {
  assert.equal(
    (await member.post(paths.transfers, { ...order, id: 'traced-1' }, { traceparent })).status,
    201,
  );
  const request = await spanOf((span) => span.attributes['sharedraft.transfer_id'] === 'traced-1');
  assert.equal(request.name, `POST ${paths.transfers}`);
  assert.equal(request.kind, SpanKind.SERVER);
  assert.equal(request.spanContext().traceId, traceId);
  assert.equal(request.parentSpanContext?.spanId, parentSpanId);
  assert.equal(request.attributes['http.response.status_code'], 201);
  assert.equal(request.attributes['http.route'], paths.transfers);
  assert.equal(request.attributes['sharedraft.operation'], 'initiateTransfer');
  assert.equal(request.attributes['sharedraft.client_id'], 'demo-app');
  assert.equal(typeof request.attributes['sharedraft.institution_id'], 'number');
  assert.equal(typeof request.attributes['sharedraft.user_key'], 'string');
  assert.equal(request.attributes['sharedraft.operator_id'], undefined);
});

test('the span of an operator’s request names the operation, the institution and the operator', async () => {
  const operator = await operatorOf(service, 'Demo viewer');
  assert.equal((await operator.get('/session')).status, 200);
  const { attributes } = await spanOf((span) => span.attributes['sharedraft.operation'] === 'showOwnSession');
  assert.match(String(attributes['sharedraft.operator_id']), /^[0-9a-f-]{36}$/);
  assert.equal(typeof attributes['sharedraft.institution_id'], 'number');
});

test('a batch is a root span, linked with the requests of its orders, and its statements are below it', async () => {
  const ids = ['traced-2', 'traced-3', 'traced-4'];
  await Promise.all(ids.map((id) => member.post(paths.transfers, { ...order, id }, { traceparent })));
  for (const id of ids) {
    const request = await spanOf((span) => span.attributes['sharedraft.transfer_id'] === id);
    const batch = await spanOf(({ links }) =>
      links.some(({ attributes }) => attributes?.['sharedraft.transfer_id'] === id),
    );
    assert.equal(batch.name, 'settle transfers');
    assert.equal(batch.parentSpanContext, undefined);
    const link = batch.links.find(({ attributes }) => attributes?.['sharedraft.transfer_id'] === id);
    assert.equal(link?.context.spanId, request.spanContext().spanId);
    const statements = childrenOf(batch).map(({ name }) => name);
    assert.ok(statements.includes('transfers_write'), statements.join());
    assert.ok(statements.includes('commit'), statements.join());
  }
});

test('a read has its statement below its request', async () => {
  const before = exporter.getFinishedSpans().length;
  assert.equal((await member.get(`${paths.accounts}/a-1001-checking`)).status, 200);
  const route = `GET ${paths.accounts}/:accountId`;
  const request = await spanOf(({ name }) => name === route);
  const statements = childrenOf(request);
  assert.ok(exporter.getFinishedSpans().length > before);
  assert.ok(statements.length > 0);
  for (const { attributes, kind } of statements) {
    assert.equal(attributes['db.system.name'], 'postgresql');
    assert.equal(kind, SpanKind.CLIENT);
  }
});

test('a failed statement marks its span with the SQLSTATE, and no span has a value', async () => {
  const secret = 'recognizable memo of a trace';
  await service.db.superuser(
    `alter table transfers add constraint of_this_test check (memo is distinct from '${secret}')`,
  );
  const failed = await member.post(paths.transfers, { ...order, id: 'traced-5', memo: secret });
  assert.equal(failed.status, 500);
  const statement = await spanOf(({ attributes }) => attributes['db.response.status_code'] === '23514');
  assert.equal(statement.status.code, SpanStatusCode.ERROR);
  const all = exporter.getFinishedSpans().map(({ name, attributes, status, events, links }) => ({
    ...{ name, attributes, status, events, links },
  }));
  assert.ok(!JSON.stringify(all).includes('recognizable'));
});

test('a delivery sends the trace of the request that it belongs to', async () => {
  const url = new URL('https://hooks.test/endpoint?key=secret');
  const message: DeliveryMessage = { kind: 'webhook', method: 'POST', url, headers: {} };
  await seams.delivery.tracePromise(async () => {
    message.status = 503;
    message.outcome = 'status_503';
  }, message);
  const span = await spanOf(({ name }) => name === 'POST webhook');
  assert.equal(
    message.headers.traceparent,
    `00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`,
  );
  assert.equal(span.attributes['url.full'], 'https://hooks.test/endpoint');
  assert.equal(span.attributes['http.response.status_code'], 503);
  assert.equal(span.status.code, SpanStatusCode.ERROR);
});

test('a webhook is a span with its outcome, and its receiver gets the trace', async () => {
  await using receiver = await startReceiver();
  receiver.respond = () => 503;
  const client = await clientOf(service);
  await client.post('/digitalbanking/db-webhooks/v1/endpoints', { url: receiver.url });
  assert.equal((await member.post(paths.transfers, order)).status, 201);
  const { host } = new URL(receiver.url);
  const span = await spanOf(({ attributes }) => String(attributes['url.full']).includes(host));
  assert.equal(span.name, 'POST webhook');
  assert.equal(span.attributes['error.type'], 'status_503');
  const { traceId: sent, spanId } = span.spanContext();
  assert.equal(receiver.received[0]?.headers.traceparent, `00-${sent}-${spanId}-01`);
});
