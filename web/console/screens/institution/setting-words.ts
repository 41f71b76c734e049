import { type Changeable, spanWords, yesOrNo } from '../../form/changeable.ts';

/* The settings of an institution and of its screening in plain words, by the names of their operations. */

export interface SettingGroup {
  readonly title: string;
  readonly fields: readonly Changeable[];
}

const count = (noun: string) => (value: number) => `${value.toLocaleString('en-US')} ${noun}`;
const fixed = { kind: 'text', maxLength: 64, isFixed: true } as const;
/** 30 days. */
const longest = 2_592_000;

export const settingGroups: readonly SettingGroup[] = [
  {
    title: 'Institution',
    fields: [
      { name: 'name', label: 'Name', kind: 'text', maxLength: 128 },
      { name: 'code', label: 'Short name', ...fixed },
      { name: 'currency', label: 'Currency', ...fixed },
      {
        name: 'timeZone',
        label: 'Time zone',
        kind: 'text',
        maxLength: 64,
        hint: 'Like America/New_York. It determines the days of limits.',
      },
      {
        name: 'host',
        label: 'Own host name',
        kind: 'text',
        maxLength: 253,
        ifNone: 'none',
        hint: 'Like bank.example. Passkeys that were made at another name do not work there.',
      },
      {
        name: 'brandColor',
        label: 'Color',
        kind: 'text',
        maxLength: 7,
        ifNone: 'that of the service',
        hint: 'Like #0b5d4a. White words must be easy to read on it.',
      },
      {
        name: 'logoHash',
        label: 'Logo',
        ...{ ...fixed, ifNone: 'none', longWords: 'a picture' },
      },
      {
        name: 'record',
        label: 'Books',
        kind: 'choice',
        isFixed: true,
        choices: [
          { value: 'ledger', words: 'are kept here' },
          { value: 'core', words: 'are kept by the core' },
        ],
      },
      { name: 'demo', label: 'Demo', ...yesOrNo, isFixed: true },
    ],
  },
  {
    title: 'Registration',
    fields: [
      {
        name: 'enrollment',
        label: 'A person may register',
        kind: 'choice',
        choices: [
          { value: 'closed', words: 'if the core knows the member' },
          { value: 'open', words: 'also with an unknown number, which opens a membership' },
        ],
      },
      {
        name: 'registrationBirthDate',
        label: 'Birth date if the core has no e-mail address',
        ...yesOrNo,
      },
      { name: 'openingDeposit', label: 'Deposit of a new membership', kind: 'amount' },
      {
        name: 'openingsPerDay',
        label: 'Most new memberships in a day',
        kind: 'whole',
        ...{ least: 0, most: 10_000_000, words: (value) => value.toLocaleString('en-US') },
      },
      {
        name: 'openingDepositsPerDay',
        label: 'Most deposits of new memberships in a day',
        kind: 'amount',
      },
    ],
  },
  {
    title: 'Sign-in of members',
    fields: [
      {
        name: 'passwordMinLength',
        label: 'Shortest password',
        kind: 'whole',
        least: 8,
        most: 128,
        words: count('characters'),
      },
      {
        name: 'contactChangeMaxAgeSeconds',
        label: 'Contact data may change',
        kind: 'whole',
        least: 0,
        most: longest,
        hint: 'Seconds after a sign-in; 0: in any session.',
        words: (seconds) => (seconds === 0 ? 'in any session' : `within ${spanWords(seconds)} of a sign-in`),
      },
      {
        name: 'transferStepUpMaxAgeSeconds',
        label: 'Recent sign-in for transfers',
        kind: 'whole',
        least: 0,
        most: longest,
        hint: 'Seconds; 0: no transfer needs one.',
        words: (seconds) => (seconds === 0 ? 'never needed' : `not older than ${spanWords(seconds)}`),
      },
      { name: 'transferStepUpAbove', label: 'Recent sign-in: transfers above', kind: 'amount' },
      {
        name: 'transferStepUpNewDestination',
        ...yesOrNo,
        label: 'Recent sign-in: accounts not paid in 400 days',
      },
      { name: 'transferStepUpPasskey', label: 'Recent sign-in: only by passkey', ...yesOrNo },
    ],
  },
];

export const screeningFields: readonly Changeable[] = [
  { ...fixed, name: 'url', label: 'Address', maxLength: 2_048 },
  { name: 'from', label: 'Orders from', kind: 'amount' },
  {
    name: 'timeoutMillis',
    label: 'Waits for an answer',
    kind: 'whole',
    least: 50,
    most: 5_000,
    ...{ hint: 'Milliseconds.', words: (millis) => `at most ${millis.toLocaleString('en-US')} ms` },
  },
  {
    name: 'onSilence',
    label: 'Without an answer',
    kind: 'choice',
    choices: [
      { value: 'APPROVE', words: 'the order goes on' },
      { value: 'HOLD', words: 'the order waits for a review' },
      { value: 'DECLINE', words: 'the order is declined' },
    ],
  },
  {
    name: 'holdSeconds',
    label: 'A held order expires',
    kind: 'whole',
    least: 60,
    most: longest,
    ...{ hint: 'Seconds.', words: (seconds) => `after ${spanWords(seconds)}` },
  },
];
