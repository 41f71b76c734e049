import assert from 'node:assert/strict';
import { test } from 'node:test';
import { accountRefusal, type Ends, type Occasion } from './account-refusal.ts';

const open = { closed: false, diAccountType: 'CHECKING', transferRestriction: null } as const;
const closed = { ...open, closed: true };
const [excluded, paysNot, receivesNot] = (['EXCLUDE_ALL', 'EXCLUDE_AS_FROM', 'EXCLUDE_AS_TO'] as const).map(
  (transferRestriction) => ({ ...open, transferRestriction }),
);
const ofType = (diAccountType: string) => ({ ...open, diAccountType });

const sentences = {
  closed: {
    order: 'account_closed The source or the destination account is closed.',
    option: 'account_closed The source account is closed.',
    posting: 'account_closed An account was closed while the transfer was pending.',
    reversal: 'account_closed An account of the transfer is closed.',
  },
  source: {
    order: 'account_restricted The source account does not allow this payment.',
    option: 'account_restricted The source account does not allow this payment.',
    posting: 'account_restricted An account was restricted while the transfer was pending.',
  },
  destination: {
    order: 'account_restricted The destination account does not allow this payment.',
    posting: 'account_restricted An account was restricted while the transfer was pending.',
  },
} as const;
type Told = keyof typeof sentences | null;

/** The refusal of an order, of a payment to anyone, of a pending transfer that posts, and of a reversal. */
const table: readonly (readonly [string, Partial<Ends>, Record<Occasion, Told>])[] = [
  ['two open accounts', {}, told(null)],
  ['a closed source', { from: closed }, told('closed')],
  ['a closed destination', { to: closed }, { ...told('closed'), option: null }],
  ['a missing source', { from: undefined }, told('closed')],
  ['a missing destination', { to: undefined }, { ...told('closed'), option: null }],
  ['a source that the core restricts', { from: excluded }, { ...told('source'), reversal: null }],
  ['a source that may not pay', { from: paysNot }, { ...told('source'), reversal: null }],
  ['a source that may not receive', { from: receivesNot }, told(null)],
  [
    'a destination that the core restricts',
    { to: excluded },
    { ...told('destination'), option: null, reversal: null },
  ],
  [
    'a destination that may not receive',
    { to: receivesNot },
    { ...told('destination'), option: null, reversal: null },
  ],
  ['a destination that may not pay', { to: paysNot }, told(null)],
  ['a caller who may not pay', { mayPay: false }, { ...told('source'), reversal: null }],
  [
    'a restricted source and a closed destination',
    { from: excluded, to: closed },
    { ...told('closed'), option: 'source' },
  ],
  [
    'a restricted source and destination',
    { from: excluded, to: excluded },
    { ...told('source'), reversal: null },
  ],
  ['a savings account', { from: ofType('SAVINGS') }, told(null)],
  ['a money market account', { from: ofType('MONEY_MARKET') }, told(null)],
  ['a certificate as source', { from: ofType('CERT_OF_DEPOSIT') }, { ...told('source'), reversal: null }],
  ['an IRA as source', { from: ofType('RETIREMENT_IRA') }, { ...told('source'), reversal: null }],
  ['a loan as source', { from: ofType('INSTALLMENT_LOAN') }, { ...told('source'), reversal: null }],
];

function told(all: Told): Record<Occasion, Told> {
  return { order: all, option: all, posting: all, reversal: all };
}

for (const [name, change, expected] of table) {
  for (const occasion of ['order', 'option', 'posting', 'reversal'] as const) {
    const refusal = expected[occasion];
    test(`${refusal === null ? 'allows' : 'refuses'} ${name}, on the occasion "${occasion}"`, () => {
      const ends: Ends = { from: open, to: open, mayPay: true, ...change };
      const got = accountRefusal(occasion, occasion === 'option' ? { ...ends, to: 'anyone' } : ends);
      const sentence: string | undefined =
        refusal === null ? undefined : { ...sentences[refusal] }[occasion as 'order'];
      assert.equal(got === null ? undefined : `${got.code} ${got.detail}`, sentence);
    });
  }
}
