// Turns the seams of the service into OpenTelemetry spans (docs/monitoring.md, ADR 39). Preloaded:
//
//   NODE_OPTIONS="--import ./my-sdk.mjs --import ./ops/opentelemetry/tracer.mjs"
//
// my-sdk.mjs registers a tracer provider with a context manager and a propagator. The operator installs
// @opentelemetry/api and an SDK; the service itself has neither.
import { AsyncLocalStorage } from 'node:async_hooks';
import { channel, tracingChannel } from 'node:diagnostics_channel';
import { context, propagation, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';

const tracer = trace.getTracer('sharedraft');
/** The context of the span that the running code belongs to. Our own store: the seams bind it, whatever the SDK's manager does. */
const active = new AsyncLocalStorage();
const activeContext = () => active.getStore() ?? context.active();
/** The span of a message, and the context below it. */
const spans = new WeakMap();
/** The request's context of an order, for the links of its batch. */
const contextOfOrder = new WeakMap();

follow('request', {
  begin({ method, route, operation, headers, transactionId }) {
    const parent = propagation.extract(ROOT_CONTEXT, headers);
    return [
      `${method} ${route ?? ''}`.trimEnd(),
      {
        kind: SpanKind.SERVER,
        attributes: {
          'http.request.method': method,
          'http.route': route,
          'sharedraft.operation': operation,
          'sharedraft.transaction_id': transactionId,
        },
      },
      parent,
    ];
  },
  end(span, { status, code, isHangUp, transferId, caller }) {
    span.setAttributes({
      ...(!isHangUp && { 'http.response.status_code': status }),
      ...(code !== undefined && { 'error.type': code }),
      ...(transferId !== undefined && { 'sharedraft.transfer_id': transferId }),
      ...(isHangUp && { 'sharedraft.hang_up': true }),
      // Members without a value are left out by the SDK.
      'sharedraft.institution_id': caller.institutionId,
      'sharedraft.client_id': caller.clientId,
      'sharedraft.user_key': caller.userKey,
      'sharedraft.operator_id': caller.operatorId,
    });
    if (!isHangUp && status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
  },
});

channel('sharedraft:order').subscribe(({ order }) => {
  contextOfOrder.set(order, activeContext());
});

follow('batch', {
  begin({ orders, waitedMillis, institutionIds }) {
    // A batch has no single parent: it is a root span, linked with the request of each order.
    const links = orders.flatMap((order, at) => {
      const spanContext = trace.getSpanContext(contextOfOrder.get(order) ?? ROOT_CONTEXT);
      const attributes = {
        'sharedraft.transfer_id': order.transferId,
        'sharedraft.waited_ms': waitedMillis[at],
      };
      return spanContext === undefined ? [] : [{ context: spanContext, attributes }];
    });
    const attributes = {
      'sharedraft.batch.orders': orders.length,
      'sharedraft.institution_ids': institutionIds,
    };
    return ['settle transfers', { kind: SpanKind.INTERNAL, root: true, links, attributes }, ROOT_CONTEXT];
  },
});

follow('statement', {
  begin({ statement }) {
    const attributes = { 'db.system.name': 'postgresql', 'db.query.summary': statement };
    return [statement, { kind: SpanKind.CLIENT, attributes }, activeContext()];
  },
});

follow('delivery', {
  begin({ kind, method, url }) {
    const attributes = {
      'http.request.method': method,
      'server.address': url.hostname,
      'server.port': Number(url.port || (url.protocol === 'https:' ? 443 : 80)),
      // Without the query, which may hold a secret.
      'url.full': `${url.origin}${url.pathname}`,
      'sharedraft.delivery': kind,
    };
    return [`${method} ${kind}`, { kind: SpanKind.CLIENT, attributes }, activeContext()];
  },
  begun: (below, { headers }) => propagation.inject(below, headers),
  end(span, { status, outcome = 'accepted' }) {
    if (status !== undefined) span.setAttribute('http.response.status_code', status);
    if (outcome === 'accepted') return;
    span.setAttribute('error.type', outcome);
    span.setStatus({ code: SpanStatusCode.ERROR });
  },
});

function follow(name, { begin, begun = () => {}, end = () => {} }) {
  const seam = tracingChannel(`sharedraft:${name}`);
  seam.start.bindStore(active, (message) => {
    const [title, options, parent] = begin(message);
    const span = tracer.startSpan(title, options, parent);
    const below = trace.setSpan(parent, span);
    spans.set(message, span);
    begun(below, message);
    return below;
  });
  seam.asyncEnd.subscribe((message) => {
    const span = spans.get(message);
    if (span === undefined) return;
    end(span, message);
    if (message.error !== undefined) fail(span, message.error);
    span.end();
  });
}

/** The class and the code of an error. Its message may quote a row. */
function fail(span, error) {
  const { code, name } = error;
  span.setAttribute('error.type', String(code ?? name));
  if (typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code))
    span.setAttribute('db.response.status_code', code);
  span.setStatus({ code: SpanStatusCode.ERROR });
}
