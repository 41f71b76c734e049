import { channel, tracingChannel } from 'node:diagnostics_channel';

/*
 * The seams of the service: places that publish on diagnostics channels. Metrics, the debug log and tracing subscribe to
 * them (ADR 38). A seam without a subscriber costs a branch.
 */

/** The caller of a request by keys and ids, as far as it is certain: for the log and for traces, so without personal data. */
export interface CallerFacts {
  readonly institutionId?: number | undefined;
  readonly clientId?: string | undefined;
  /** The key of the user's row, in decimals. */
  readonly userKey?: string | undefined;
  readonly operatorId?: string | undefined;
}

/** An HTTP request. Members without a value at the start are set at the end. */
export interface RequestMessage {
  readonly method: string;
  /** The pattern of the path; undefined for an unknown path. */
  readonly route: string | undefined;
  readonly operation: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly transactionId: string;
  status: number;
  /** The code of the problem document or of the OAuth error. */
  code: string | undefined;
  seconds: number;
  /** The caller closed the connection before the response was complete. */
  isHangUp: boolean;
  /** It lasts until its caller leaves, so that its time says nothing. */
  readonly isStream: boolean;
  transferId: string | undefined;
  caller: CallerFacts;
}

/** A statement, from its submission to the response of its packet. */
export interface StatementMessage {
  readonly statement: string;
  readonly startedAt: number;
  /** Set by the channel if the statement failed. */
  readonly error?: unknown;
}

/** The result of an order, as far as a counter needs it. */
export interface OrderResult {
  readonly kind: string;
  readonly transfer?: { readonly status: string; readonly failureCode: string | null };
}

/** One run of a batch of orders. A batch that is run again publishes each run. */
export interface BatchMessage {
  readonly institutionIds: readonly number[];
  /** The orders, as `orderChannel` published them. */
  readonly orders: readonly unknown[];
  /** The time of each order in the queue. */
  readonly waitedMillis: readonly number[];
  readonly startedAt: number;
  /** Set by the channel: an `OrderResult` for each order. */
  readonly result?: unknown;
  readonly error?: unknown;
}

/** An order that enters the queue, published in the context of its request. */
interface OrderMessage {
  readonly order: unknown;
}

/** A request that the service sends, for instance a webhook. */
export interface DeliveryMessage {
  /** One of few words. */
  readonly kind: string;
  readonly method: string;
  readonly url: URL;
  /** A tracer adds `traceparent`. The sender sends these headers. */
  readonly headers: Record<string, string>;
  /** Set by the sender; undefined without a response. */
  status?: number | undefined;
  /** Set by the sender: `accepted`, or a word such as `timeout` or `status_503`. */
  outcome?: string;
  /** Set by the sender. */
  seconds?: number;
  readonly error?: unknown;
}

/** The verdict of screening on an order: each member is one of few words. */
export interface ScreeningMessage {
  readonly verdict: string;
  readonly answer: string;
}

/** A token request with its grant and outcome: `issued`, or the reason of the refusal. */
export interface SignInMessage {
  readonly grant: string;
  readonly outcome: string;
}

export const seams = {
  request: tracingChannel<RequestMessage>('sharedraft:request'),
  batch: tracingChannel<BatchMessage>('sharedraft:batch'),
  statement: tracingChannel<StatementMessage>('sharedraft:statement'),
  delivery: tracingChannel<DeliveryMessage>('sharedraft:delivery'),
  order: channel<OrderMessage>('sharedraft:order'),
  signIn: channel<SignInMessage>('sharedraft:sign-in'),
  screening: channel<ScreeningMessage>('sharedraft:screening'),
} as const;
