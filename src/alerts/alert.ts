/** Alerts about one account, chosen by the member. Those of `thresholdTypes` have an amount. */
export const accountAlertTypes = [
  'LOW_BALANCE',
  'HIGH_BALANCE',
  'DEPOSIT',
  'PAYMENT',
  'TRANSFER_COMPLETE',
  'TRANSFER_FAILED',
  'TRANSFER_PENDING',
  'PAYMENT_DUE',
] as const;
export type AccountAlertType = (typeof accountAlertTypes)[number];

export const thresholdTypes: ReadonlySet<AccountAlertType> = new Set([
  'LOW_BALANCE',
  'HIGH_BALANCE',
  'DEPOSIT',
  'PAYMENT',
]);

/** Alerts about the member's access. They cannot be switched off, and do not wait for the end of quiet hours. */
export const securityAlertTypes = [
  'CONTACT_CHANGED',
  'PASSWORD_CHANGED',
  'NEW_DEVICE',
  'SECOND_FACTOR_CHANGED',
  'RECOVERY_CODE_USED',
] as const;
export type SecurityAlertType = (typeof securityAlertTypes)[number];

export const alertTypes = [...accountAlertTypes, ...securityAlertTypes] as const;
export type AlertType = (typeof alertTypes)[number];

export const alertChannels = ['EMAIL', 'SMS', 'PUSH', 'INBOX'] as const;
export type AlertChannel = (typeof alertChannels)[number];

/** The least for security alerts. */
export const securityChannels: readonly AlertChannel[] = ['EMAIL', 'INBOX'];

export const languages = ['en', 'es'] as const;
export type Language = (typeof languages)[number];

/** The event that an alert is in the feed. */
export const alertEventKind = 'member.alert_raised';

/** In the event of a digest, in place of the type of one alert. */
export const digestType = 'DIGEST';

/** Events that go out by mail, if they have an address. */
export const alertEventKinds: readonly string[] = [alertEventKind];

/** An alert as its member sees it. Money is in minor units. */
export interface Alert {
  readonly alertId: string;
  readonly alertType: AlertType;
  /** Null for a payment that is due: the calendar raises it. */
  readonly eventId: string | null;
  readonly occurredAt: Date;
  /** Null for a security alert. */
  readonly account: AlertAccount | null;
  readonly transferId: string | null;
  /** YYYY-MM-DD, of a payment that is due. */
  readonly dueOn: string | null;
  readonly amountMinor: bigint | null;
  readonly balanceMinor: bigint | null;
  readonly thresholdMinor: bigint | null;
  readonly channels: readonly AlertChannel[];
  readonly isRead: boolean;
}

interface AlertAccount {
  readonly accountId: string;
  readonly description: string;
  /** The last four digits or letters of its number. */
  readonly lastFour: string;
  readonly currency: string;
}
