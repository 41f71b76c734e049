import type { Alert, AlertChannel, AlertType } from './alert.ts';

/** A row of `alertColumns`. */
export interface AlertRow {
  readonly alertKey: bigint;
  readonly alertId: string;
  readonly alertType: AlertType;
  readonly eventId: string | null;
  readonly occurredAt: Date;
  readonly accountId: string | null;
  readonly accountDescription: string | null;
  readonly lastFour: string | null;
  readonly currency: string | null;
  readonly transferId: string | null;
  readonly dueOn: string | null;
  readonly amount: bigint | null;
  readonly balance: bigint | null;
  readonly threshold: bigint | null;
  readonly channels: AlertChannel[];
  readonly readAt: Date | null;
}

/** Of `alerts n` and, if the alert is about one, its `accounts a`. */
export const alertColumns = `n.alert_key, n.alert_id::text as alert_id, n.alert_type, n.event_id, n.occurred_at, n.transfer_id, n.due_on::text as due_on, n.amount,
         n.balance, n.threshold, n.channels, n.read_at, a.account_id, a.description as account_description,
         right(regexp_replace(a.account_number, '[^0-9A-Za-z]', '', 'g'), 4) as last_four, a.currency`;
export const withAccount =
  'left join accounts a on a.institution_id = n.institution_id and a.account_key = n.account_key';

export function toAlert(row: AlertRow): Alert {
  const { alertId, alertType, eventId, occurredAt, transferId, dueOn, channels } = row;
  const { accountId, accountDescription, lastFour, currency, amount, balance, threshold, readAt } = row;
  const isAboutAccount =
    accountId !== null && accountDescription !== null && lastFour !== null && currency !== null;
  return {
    alertId,
    alertType,
    eventId,
    occurredAt,
    account: isAboutAccount ? { accountId, description: accountDescription, lastFour, currency } : null,
    transferId,
    dueOn,
    amountMinor: amount,
    balanceMinor: balance,
    thresholdMinor: threshold,
    channels,
    isRead: readAt !== null,
  };
}
