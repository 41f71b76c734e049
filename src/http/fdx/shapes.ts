import * as Type from 'typebox/type';
import { CurrencyCode, knownValues } from '../schemas.ts';
import { accountCategories, accountStatuses } from './present.ts';

/** The part of FDX 6 that the operations under /fdx/v6 return. docs/fdx.md has the mapping. */

const amount = (description: string) => Type.Optional(Type.Number({ description }));

const time = (description: string) => Type.String({ format: 'date-time', description });

const AccountCategory = knownValues(Object.values(accountCategories), 'The category of the account.');

export const FdxCustomerName = Type.Object(
  { first: Type.String(), last: Type.String() },
  { description: 'The name of a person.' },
);

export const FdxTelephone = Type.Object(
  {
    type: knownValues(['HOME', 'BUSINESS', 'PERSONAL'], 'The purpose.'),
    number: Type.String({ description: 'E.164, with the country.' }),
    network: Type.Optional(knownValues(['CELLULAR'], 'Of a mobile phone.')),
  },
  { description: 'A telephone number of the customer.' },
);

export const FdxCustomer = Type.Object(
  {
    customerId: Type.String({ description: 'The user, forever. The `sub` of ID tokens.' }),
    name: FdxCustomerName,
    email: Type.Array(Type.String({ format: 'email' })),
    telephones: Type.Array(FdxTelephone),
  },
  { description: 'The person who consented.' },
);

export const FdxCurrency = Type.Object({ currencyCode: CurrencyCode }, { description: 'A currency.' });

export const FdxAccount = Type.Object(
  {
    accountCategory: AccountCategory,
    accountId: Type.String({ description: 'Unique identifier of the account.' }),
    accountType: Type.String({ description: 'FDX’s type within the category, for example CHECKING.' }),
    accountNumberDisplay: Type.String({ description: 'The last four characters of the account number.' }),
    productName: Type.String({ description: 'For people.' }),
    status: knownValues(accountStatuses, 'CLOSED takes precedence over DELINQUENT.'),
    currency: FdxCurrency,
    balanceAsOf: Type.Optional(
      time('While the core that keeps the books is away: the time that the balances are true for.'),
    ),
    currentBalance: amount('DEPOSIT_ACCOUNT: the posted balance. LOC_ACCOUNT: the amount owed.'),
    availableBalance: amount('DEPOSIT_ACCOUNT: the posted balance less holds.'),
    principalBalance: amount('LOAN_ACCOUNT: the principal owed.'),
    availableCredit: amount('LOC_ACCOUNT: the unused part of the line.'),
    currentValue: amount('INVESTMENT_ACCOUNT: the posted balance.'),
    availableCashBalance: amount('INVESTMENT_ACCOUNT: the posted balance less holds.'),
  },
  { description: 'An account; a descriptor has no balances.' },
);

export const FdxAccounts = Type.Object(
  { accounts: Type.Array(FdxAccount) },
  { description: 'The accounts that the consent covers.' },
);

export const FdxPage = Type.Object(
  { nextOffset: Type.String({ description: 'The `offset` of the next page.' }) },
  { description: 'Missing on the last page.' },
);

export const FdxTransaction = Type.Object(
  {
    accountCategory: AccountCategory,
    transactionId: Type.String({
      description: 'Unique on its account. A transfer keeps it from pending to posted.',
    }),
    transactionTimestamp: time('Time of posting; while pending, time of the order.'),
    postedTimestamp: Type.Optional(time('Missing while pending.')),
    transactionType: Type.Optional(
      Type.String({ description: 'FDX’s type for loans, credit lines and investments.' }),
    ),
    description: Type.String({ description: 'For people.' }),
    debitCreditMemo: knownValues(['CREDIT', 'DEBIT'], 'Whether the account was credited or debited.'),
    status: knownValues(['PENDING', 'POSTED'], 'PENDING: held, not posted yet.'),
    amount: Type.Number({ description: 'In major units of the account’s currency, without a sign.' }),
    category: Type.Optional(Type.String({ description: 'The kind of spending, as the core states it.' })),
    payee: Type.Optional(Type.String({ description: 'DEPOSIT_ACCOUNT: the merchant or payee of a debit.' })),
    checkNumber: Type.Optional(Type.Integer({ description: 'The number of a check.' })),
  },
  { description: 'A transaction of an account.' },
);

export const FdxTransactions = Type.Object(
  { page: Type.Optional(FdxPage), transactions: Type.Array(FdxTransaction) },
  { description: 'A page of transactions.' },
);
