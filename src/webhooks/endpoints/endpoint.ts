import type { FeedEvent } from '../../feed/index.ts';
import type { Position } from '../../shared/page.ts';

export const payloads = ['THIN', 'FULL'] as const;
export type Payload = (typeof payloads)[number];

export const orderings = ['ACCOUNT', 'STRICT'] as const;
type Ordering = (typeof orderings)[number];

export const endpointStatuses = ['ACTIVE', 'PAUSED', 'DISABLED'] as const;
export type EndpointStatus = (typeof endpointStatuses)[number];

/** SMTP: the mail of the institution's members, which no client owns. */
type Transport = 'HTTPS' | 'SMTP';

/** An address of a client to which events are sent, or the mail of an institution. */
export interface Endpoint {
  readonly endpointId: string;
  readonly transport: Transport;
  /** Null for SMTP. */
  readonly clientId: string | null;
  readonly url: string;
  readonly description: string | null;
  /** Null: all. */
  readonly eventTypes: readonly string[] | null;
  readonly payload: Payload;
  readonly ordering: Ordering;
  readonly status: EndpointStatus;
  /** Null while it is active. */
  readonly statusReason: 'operator' | 'client' | 'gone' | 'failing' | null;
  readonly createdAt: Date;
  readonly position: Position;
  /** Number of the last event at or before the position. */
  readonly number: bigint;
  /** Failed attempts since the last success. */
  readonly failures: number;
  readonly failingSince: Date | null;
  /** While it fails: nothing is sent before this. */
  readonly nextAttemptAt: Date | null;
}

/** The properties that its owner chooses. */
export type EndpointSettings = Pick<Endpoint, 'url' | 'description' | 'eventTypes' | 'payload' | 'ordering'>;

export function wants({ eventTypes }: Pick<Endpoint, 'eventTypes'>, { kind }: FeedEvent): boolean {
  return eventTypes === null || eventTypes.includes(kind);
}

/** The lanes of an event: it is sent after every earlier event with one of them. */
export function lanesOf({ ordering }: Pick<Endpoint, 'ordering'>, event: FeedEvent): readonly string[] {
  if (ordering === 'STRICT') return ['all'];
  const { accounts, transfer, userId } = event;
  const ids = new Set(accounts.map(({ accountId }) => `account:${accountId}`));
  if (transfer !== null) {
    ids.add(`account:${transfer.fromAccountId}`);
    ids.add(`account:${transfer.toAccountId}`);
  }
  if (ids.size === 0) ids.add(userId === null ? 'institution' : `user:${userId}`);
  return [...ids];
}

/** Writes a whole event, as the feed shows it. The HTTP edge owns that shape. */
export type RenderEvent = (event: FeedEvent) => object;

/** THIN: enough to fetch the rest, and to prove by the sequences that nothing is missing. */
export function bodyOf(payload: Payload, event: FeedEvent, render: RenderEvent): string {
  if (payload === 'FULL') return JSON.stringify(render(event));
  const { eventId, sequence, kind, at, userId, transfer, accounts } = event;
  return JSON.stringify({
    eventId,
    sequence: Number(sequence),
    eventType: kind,
    timestamp: at.toISOString(),
    ...(userId !== null && { userId }),
    ...(transfer !== null && { transferId: transfer.id }),
    accounts: accounts.map((change) => ({ accountId: change.accountId, sequence: Number(change.sequence) })),
  });
}
