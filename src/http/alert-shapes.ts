import * as Type from 'typebox/type';
import {
  type AccountAlertType,
  type AlertChannel,
  accountAlertTypes,
  alertChannels,
  alertTypes,
  type Language,
  languages,
  type AlertPreferences as Preferences,
  type ShownAlert,
  type WantedPreferences,
} from '../alerts/index.ts';
import { Problem } from '../shared/problem.ts';
import { publicId } from '../shared/public-id.ts';
import { type DecimalAmount, parseDecimalAmount } from '../transfers/index.ts';
import { exactNumber } from './presenters.ts';

/** Shapes of alerts in openapi.json, and the documents of that shape. */

const mostRules = 200;

export const alertParameter = {
  alertId: Type.String({
    pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
    description: 'Unique identifier of the alert.',
  }),
};

const timeOfDay = (description: string) =>
  Type.String({ pattern: '^([01][0-9]|2[0-3]):[0-5][0-9]$', description });

export const AlertChannelName = Type.Unsafe<AlertChannel>({
  type: 'string',
  enum: [...alertChannels],
  description: 'INBOX is kept by the service; the others are delivered by the institution.',
});
export const AlertLanguage = Type.Unsafe<Language>({
  type: 'string',
  enum: [...languages],
  description: 'Of the messages. Default: en.',
});

const channels = (description: string) =>
  Type.Array(AlertChannelName, {
    minItems: 1,
    maxItems: alertChannels.length,
    description,
  });

const quietHours = {
  from: timeOfDay('Beginning, HH:MM.'),
  to: timeOfDay('End, HH:MM; earlier than `from`: on the next day.'),
};
const quietText =
  'Alerts of these hours wait for their end, on the clocks of `timeZone`. Security alerts do not.';
export const QuietHours = Type.Object(quietHours, { description: quietText });
export const QuietHoursUpdate = Type.Object(quietHours, {
  additionalProperties: false,
  description: quietText,
});

const digestAt = Type.Optional(
  timeOfDay(
    'Alerts about accounts wait for this time, on the clocks of `timeZone`, and go out together in one message. Quiet hours do not count for them. Default: each alert goes out on its own.',
  ),
);

export const AlertRuleType = Type.Unsafe<AccountAlertType>({
  type: 'string',
  enum: [...accountAlertTypes],
  description:
    'LOW_BALANCE, HIGH_BALANCE: the available balance falls below or rises above the threshold. DEPOSIT, PAYMENT: a posting of at least the threshold comes in or goes out. TRANSFER_COMPLETE, TRANSFER_FAILED, TRANSFER_PENDING: a transfer from the account. PAYMENT_DUE: the payment of a loan is due within three days.',
});
const rule = {
  alertType: AlertRuleType,
  accountId: Type.String({ pattern: publicId.source, description: 'An account of the member.' }),
  threshold: Type.Optional(
    Type.Number({
      description:
        'In major units of the account’s currency. Required for LOW_BALANCE, HIGH_BALANCE, DEPOSIT and PAYMENT, and not allowed for others.',
    }),
  ),
  channels: channels('Where the alert goes.'),
};
export const AlertRule = Type.Object(rule, { description: 'An alert that the member wants.' });
export const AlertRuleUpdate = Type.Object(rule, {
  additionalProperties: false,
  description: 'An alert that the member wants, one of each type for an account.',
});

const settings = {
  timeZone: Type.String({
    minLength: 1,
    maxLength: 64,
    description: 'IANA name, for quiet hours and the digest. Default: the institution’s.',
  }),
  language: AlertLanguage,
  securityChannels: channels(
    'Where security alerts go: a change of contact information or password. EMAIL and INBOX are always among them. Default: these two.',
  ),
};

export const AlertPreferences = Type.Object(
  { ...settings, quietHours: Type.Optional(QuietHours), digestAt, alerts: Type.Array(AlertRule) },
  { description: 'The alerts that a member wants.' },
);

export const AlertPreferencesUpdate = Type.Object(
  {
    timeZone: Type.Optional(settings.timeZone),
    language: Type.Optional(settings.language),
    securityChannels: Type.Optional(settings.securityChannels),
    quietHours: Type.Optional(QuietHoursUpdate),
    digestAt,
    alerts: Type.Array(AlertRuleUpdate, { maxItems: mostRules }),
  },
  {
    additionalProperties: false,
    description: 'All preferences. They replace those before; a setting left out gets its default.',
  },
);

export const AlertMark = Type.Object(
  { read: Type.Boolean() },
  { additionalProperties: false, description: 'Whether the member has read the alert.' },
);

export const BounceReport = Type.Object(
  {
    emailAddress: Type.String({
      minLength: 3,
      maxLength: 254,
      description: 'The address that got the mail.',
    }),
    kind: Type.Unsafe<'BOUNCE' | 'COMPLAINT'>({
      type: 'string',
      enum: ['BOUNCE', 'COMPLAINT'],
      description: 'BOUNCE: it cannot be delivered. COMPLAINT: the member reported it as unwanted.',
    }),
  },
  { additionalProperties: false, description: 'A report about an e-mail of the service.' },
);

export const BounceResult = Type.Object(
  { suppressed: Type.Boolean({ description: 'Always true: the address gets no mail.' }) },
  { description: 'The result of a report.' },
);

export const MemberAlert = Type.Object(
  {
    alertId: Type.String({ format: 'uuid', description: 'The same at each delivery.' }),
    alertType: Type.String({
      description: 'The reason. New values may be added.',
      'x-extensible-enum': [...alertTypes],
    }),
    timestamp: Type.String({ format: 'date-time', description: 'Time of the event that raised it.' }),
    message: Type.String({ description: 'One or two sentences in the member’s language.' }),
    accountId: Type.Optional(Type.String({ description: 'Missing for a security alert.' })),
    transferId: Type.Optional(Type.String({ description: 'A transfer from the account.' })),
    amount: Type.Optional(Type.Number({ description: 'Of the deposit, payment or transfer.' })),
    balanceAmount: Type.Optional(
      Type.Number({ description: 'The account’s available balance behind the event.' }),
    ),
    threshold: Type.Optional(Type.Number({ description: 'Of the rule.' })),
    currencyCode: Type.Optional(Type.String({ description: 'Of the amounts.' })),
    dueOn: Type.Optional(Type.String({ format: 'date', description: 'Of a payment that is due: the day.' })),
    eventId: Type.Optional(
      Type.String({
        description: 'The event of the feed that raised it. Missing for a payment that is due.',
      }),
    ),
    read: Type.Boolean(),
  },
  { description: 'An alert in the inbox.' },
);

export const preferencesExample = {
  timeZone: 'America/New_York',
  language: 'en',
  securityChannels: ['EMAIL', 'INBOX'],
  quietHours: { from: '22:00', to: '07:00' },
  alerts: [
    { alertType: 'LOW_BALANCE', accountId: 'a-1001-checking', threshold: 100, channels: ['EMAIL', 'INBOX'] },
    { alertType: 'TRANSFER_COMPLETE', accountId: 'a-1001-checking', channels: ['INBOX'] },
  ],
} as const;

export const alertExample = {
  alertId: '6f0f2a11-8f0e-8c5b-9a55-0b5e1a4e3f1f',
  alertType: 'LOW_BALANCE',
  timestamp: '2026-11-20T15:04:05.678Z',
  message: 'Everyday checking …1001 fell below 100.00 USD. Available: 94.75 USD.',
  accountId: 'a-1001-checking',
  balanceAmount: 94.75,
  threshold: 100,
  currencyCode: 'USD',
  eventId: '0-731822-90551',
  read: false,
} as const;

/** The thresholds are read from the source text of the numbers, since JavaScript's value is a float. */
export function readPreferences(
  { alerts, ...wanted }: Type.Static<typeof AlertPreferencesUpdate>,
  numbers: ReadonlyMap<string, string>,
): WantedPreferences {
  return {
    ...wanted,
    rules: alerts.map(({ alertType, accountId, threshold, channels }, place) => ({
      alertType,
      accountId,
      threshold: threshold === undefined ? null : readThreshold(`/alerts/${place}/threshold`, numbers),
      channels,
    })),
  };
}

function readThreshold(pointer: string, numbers: ReadonlyMap<string, string>): DecimalAmount {
  const amount = parseDecimalAmount(numbers.get(pointer) ?? '');
  if (!('invalid' in amount)) return amount;
  throw new Problem('invalid_request', 'A part of the request is not valid.', {
    errors: [{ pointer, detail: amount.invalid }],
  });
}

export function presentPreferences({ rules, quietHours, digestAt, ...settings }: Preferences) {
  return {
    timeZone: settings.timeZone,
    language: settings.language,
    securityChannels: settings.securityChannels,
    ...(quietHours !== null && { quietHours }),
    ...(digestAt !== null && { digestAt }),
    alerts: rules.map(({ alertType, accountId, threshold, currency, channels }) => ({
      alertType,
      accountId,
      ...(threshold !== null && { threshold: exactNumber(threshold, currency) }),
      channels,
    })),
  };
}

export function presentAlert(alert: ShownAlert) {
  const { alertId, alertType, occurredAt, message, account, transferId, dueOn, eventId, isRead } = alert;
  const { amountMinor, balanceMinor, thresholdMinor } = alert;
  const currency = account?.currency ?? '';
  return {
    alertId,
    alertType,
    timestamp: occurredAt.toISOString(),
    message,
    ...(account !== null && { accountId: account.accountId }),
    ...(transferId !== null && { transferId }),
    ...(amountMinor !== null && { amount: exactNumber(amountMinor, currency) }),
    ...(balanceMinor !== null && { balanceAmount: exactNumber(balanceMinor, currency) }),
    ...(thresholdMinor !== null && { threshold: exactNumber(thresholdMinor, currency) }),
    ...(account !== null && { currencyCode: account.currency }),
    ...(dueOn !== null && { dueOn }),
    ...(eventId !== null && { eventId }),
    read: isRead,
  };
}
