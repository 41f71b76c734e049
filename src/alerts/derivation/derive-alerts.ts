import { createHash } from 'node:crypto';
import type { AccountAlertType, AlertType } from '../alert.ts';

/** An entry of the journal beside an event. Minor units. */
interface EntryFacts {
  readonly kind: string;
  readonly amountMinor: bigint;
  /** The available balance before and behind the entry. */
  readonly availableBefore: bigint;
  readonly availableAfter: bigint;
}

/** An event as one of its accounts sees it. */
export interface AccountEvent {
  readonly kind: string;
  /** Null for a transfer that failed before it moved anything. */
  readonly entry: EntryFacts | null;
  /** The transfer leaves this account. */
  readonly isSource: boolean;
  readonly transferAmountMinor: bigint | null;
}

interface Raised {
  readonly amountMinor: bigint | null;
  readonly balanceMinor: bigint | null;
}

/** Entries that a member calls a deposit or a payment. Openings and corrections by an extract are neither. */
const postings: ReadonlySet<string> = new Set(['TRANSFER', 'CORE']);

/**
 * The alert of an event under a rule, or undefined. It needs nothing but the event's own entry and the one before it in the journal:
 * a crossing is one of two neighboring entries, so it is found once, in any order of the events and at any number of readings.
 */
export function raisedBy(
  alertType: AccountAlertType,
  threshold: bigint | null,
  { kind, entry, isSource, transferAmountMinor }: AccountEvent,
): Raised | undefined {
  const limit = threshold ?? 0n;
  const balanceMinor = entry?.availableAfter ?? null;
  const about = (isRaised: boolean, amountMinor: bigint | null) =>
    isRaised ? { amountMinor, balanceMinor } : undefined;
  switch (alertType) {
    case 'LOW_BALANCE':
      return about(entry !== null && entry.availableAfter < limit && entry.availableBefore >= limit, null);
    case 'HIGH_BALANCE':
      return about(entry !== null && entry.availableAfter > limit && entry.availableBefore <= limit, null);
    case 'DEPOSIT':
      if (entry === null || !postings.has(entry.kind)) return undefined;
      return about(entry.amountMinor >= limit, entry.amountMinor);
    case 'PAYMENT':
      if (entry === null || !postings.has(entry.kind)) return undefined;
      return about(-entry.amountMinor >= limit, -entry.amountMinor);
    case 'TRANSFER_COMPLETE':
      return about(isSource && kind === 'transfer.completed', transferAmountMinor);
    case 'TRANSFER_FAILED':
      return about(isSource && kind === 'transfer.failed', transferAmountMinor);
    case 'TRANSFER_PENDING':
      return about(isSource && kind === 'transfer.pending', transferAmountMinor);
    case 'PAYMENT_DUE':
      // The calendar raises it.
      return undefined;
  }
}

/** The same for the same event and rule, forever. */
export function alertIdOf(rule: {
  readonly eventId: string;
  readonly alertType: AlertType;
  readonly accountKey: bigint | null;
  readonly userKey: bigint;
}): string {
  const { eventId, alertType, accountKey, userKey } = rule;
  return idOf([eventId, alertType, String(accountKey), String(userKey)]);
}

/** The same for the same payment, on whichever day it is looked up. */
export function dueAlertIdOf(payment: {
  readonly accountKey: bigint;
  readonly userKey: bigint;
  readonly dueOn: string;
}): string {
  const { accountKey, userKey, dueOn } = payment;
  return idOf(['PAYMENT_DUE', dueOn, String(accountKey), String(userKey)]);
}

/** The same for the same alerts. */
export function digestIdOf(alertIds: readonly string[]): string {
  return idOf(['digest', ...alertIds]);
}

/** UUIDv8 (RFC 9562 section 5.8). */
function idOf(parts: readonly string[]): string {
  const bytes = createHash('sha256').update(JSON.stringify(parts)).digest();
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x80;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex', 0, 16);
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
}
