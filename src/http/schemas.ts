import * as Type from 'typebox/type';
import { transactionTypes } from '../feed/index.ts';
import { phoneTypes, userIdTypes, userRoles } from '../members/index.ts';
import { publicId } from '../shared/public-id.ts';
import { failureCodes, loanPaymentOptions, transferTypes } from '../transfers/index.ts';
import { problemCodes } from './problems.ts';

/** The shapes that several operations share; each stands in openapi.json once, under its name here. */

/** Text of any script on one line: what a person types, without control characters. */
export function line(maxLength: number, options: { description?: string } = {}) {
  return Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$', ...options });
}

function id(description: string) {
  return Type.String({ pattern: publicId.source, description });
}

function oneOf<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description });
}

/** A response's enumeration that may grow: a string to generated clients, which would throw at a value they do not list. */
function knownValues<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    description: `${description} More may come.`,
    'x-extensible-enum': [...values],
  });
}

export const EmailAddress = Type.String({ format: 'email', maxLength: 254 });
export const PhoneType = oneOf(phoneTypes, 'Which of the user’s numbers.');
export const TransferType = oneOf(
  transferTypes,
  'Decided by the accounts, destination first: an IRA, a loan or credit line, one membership, two memberships of one user, else INTRA_FI.',
);
export const UserIdType = oneOf(userIdTypes, 'What kind of id stands in the path.');

export const TransferStatus = oneOf(
  ['PENDING', 'COMPLETED', 'FAILED'],
  'COMPLETED and FAILED are final. While PENDING the amount is held on the source account.',
);
const PaymentOption = oneOf(
  loanPaymentOptions,
  'Of a LOAN_PAYMENT: what it pays first. DEFAULT is fees, interest, principal; the others are taken where the institution says so.',
);

export const TransactionStatus = oneOf(['POSTED', 'PENDING'], 'Only these; both when left out.');

const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' });

const Money = Type.Object(
  {
    amount: Type.Number({
      description: 'In major units, written with exactly the decimals of the currency.',
    }),
    currencyCode: CurrencyCode,
  },
  { description: 'An amount of a currency.' },
);

const AccountBalance = Type.Object(
  { availableBalance: Money, currentBalance: Money },
  {
    description:
      'Current is what is posted: what a deposit holds, what of a loan’s principal or a credit line is owed. Available is a deposit’s current without holds, a credit line’s unused part, and 0 for a loan.',
  },
);

const FailureCode = knownValues(failureCodes, 'Why; with FAILED only.');

const UserStatus = Type.Object(
  { active: Type.Boolean(), locked: Type.Boolean() },
  { description: 'Whether the user may log in.' },
);

const CustomerMembership = Type.Object(
  { customerId: Type.String(), memberNumber: Type.String() },
  { description: 'A membership of the user.' },
);

const UserPhone = Type.Object(
  { phoneNumber: Type.String({ description: 'E.164.' }), phoneType: PhoneType },
  { description: 'A phone number of the user.' },
);

export const Profile = Type.Object(
  {
    userId: Type.String({ description: 'Unique identifier of the user.' }),
    firstName: Type.String(),
    lastName: Type.String(),
    emailAddress: Type.String({ format: 'email' }),
    userRole: knownValues(
      userRoles,
      'In the membership that was asked for, else in the one where it is highest.',
    ),
    userType: knownValues(['RETAIL', 'BUSINESS'], 'Of that same membership.'),
    userStatus: UserStatus,
    customers: Type.Array(CustomerMembership, { description: 'The memberships of the user.' }),
    phoneNumbers: Type.Array(UserPhone),
  },
  { description: 'A user with digital access.' },
);

const AccountType = Type.Object(
  {
    DIAccountType: Type.String({ description: 'For example CHECKING, SAVINGS, MORTGAGE_LOAN.' }),
    description: Type.String(),
  },
  { description: 'The kind of account at the institution.' },
);

const AccountStatus = Type.Object(
  { open: Type.Boolean(), closed: Type.Boolean(), delinquent: Type.Boolean() },
  { description: 'Independent flags.' },
);

export const Account = Type.Object(
  {
    accountId: Type.String({ description: 'Unique identifier of the account.' }),
    accountNumber: Type.String({ description: 'A card’s is its last four digits.' }),
    accountType: AccountType,
    category: oneOf(['DEPOSIT', 'LOAN', 'CREDIT', 'INVESTMENT'], 'What the account is to its holder.'),
    balance: AccountBalance,
    accountStatus: AccountStatus,
  },
  { description: 'One account: identity, type, category, balances, status.' },
);

const Counterparty = Type.Object(
  {
    name: Type.Optional(
      Type.String({
        description:
          'The primary holder of that account: in full if the token may see the account, else the first name and the initial of the last. Missing if there is none.',
      }),
    ),
    accountId: Type.Optional(
      Type.String({ description: 'If the token may see that account or the transfer: a payee sees none.' }),
    ),
  },
  { description: 'The other end of a transfer, as far as the caller may know it.' },
);

export const Transaction = Type.Object(
  {
    id: Type.String({
      description:
        'Unique on its account; of a transfer the same while it is pending and once it has posted.',
    }),
    transactionDate: Type.String({
      format: 'date-time',
      description: 'When it posted; while pending, when it was ordered.',
    }),
    type: knownValues(transactionTypes, 'PAYMENT is what was paid on a loan or credit line.'),
    description: Type.String({ description: 'For people.' }),
    amount: Type.Object(Money.properties, { description: 'What it adds to the balance.' }),
    ledgerBalance: Type.Optional(
      Type.Object(Money.properties, {
        description:
          'The balance after it; missing while pending. What is owed is positive; of a loan it is all that is owed, interest and fees included.',
      }),
    ),
    isPending: Type.Boolean({ description: 'Held, not posted yet.' }),
    isCreditTransaction: Type.Boolean({ description: 'Whether the account was credited.' }),
    transferId: Type.Optional(
      Type.String({ description: 'The transfer behind it, where the token may see that.' }),
    ),
    memo: Type.Optional(Type.String({ description: 'The line that the order of the transfer had.' })),
    reverses: Type.Optional(
      Type.String({ description: 'The transfer that this one takes back, if the caller may see that one.' }),
    ),
    reversedBy: Type.Optional(
      Type.String({ description: 'The transfer by which the institution took this one back.' }),
    ),
    counterparty: Type.Optional(Counterparty),
  },
  { description: 'What happened on an account. Its balance is the sum of the posted amounts.' },
);

export const Balances = Type.Object(
  {
    accountId: Type.String(),
    asOf: Type.String({ format: 'date-time' }),
    balance: AccountBalance,
  },
  {
    description:
      'As on the account, at a moment. Of a loan current is all that was owed, interest and fees included; a credit line’s available is of today’s line.',
  },
);

export const Transfer = Type.Object(
  {
    id: id('Unique identifier of the transfer, and its idempotency key for ever.'),
    transferType: Type.Optional(TransferType),
    fromAccountId: id('Source account.'),
    toAccountId: id('Destination account.'),
    // Without bounds, as all amounts of responses: with them a generated Python model refuses what it has parsed.
    amount: Type.Number({ description: 'In major units of the currency.' }),
    currencyCode: CurrencyCode,
    status: TransferStatus,
    createdAt: Type.String({ format: 'date-time' }),
    failureCode: Type.Optional(FailureCode),
    memo: Type.Optional(
      line(140, {
        description: 'A line for people, if the order had one. The holders of both accounts read it.',
      }),
    ),
    reverses: Type.Optional(id('The transfer that this one takes back, if the caller may see that one.')),
    reversedBy: Type.Optional(id('The transfer by which the institution took this one back.')),
  },
  {
    description:
      'A transfer between two accounts. `transferType` is missing only on a FAILED one that was refused before its type could be told.',
  },
);

export const TransferOrder = Type.Object(
  {
    id: Type.Optional(
      Type.Unsafe<string>({
        ...id('The caller’s own id, and the idempotency key for ever. Left out, the service makes one.'),
        // GET …/transfers/options and …/transfers/dry-run are operations of their own.
        not: { enum: ['options', 'dry-run'] },
      }),
    ),
    transferType: Type.Optional(TransferType),
    fromAccountId: Transfer.properties.fromAccountId,
    toAccountId: Transfer.properties.toAccountId,
    amount: Type.Number({
      exclusiveMinimum: 0,
      description:
        'In major units, with at most the decimals of the currency and 13 digits before the point.',
    }),
    currencyCode: Type.Optional(
      Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217. Left out, the source account’s.' }),
    ),
    paymentOption: Type.Optional(PaymentOption),
    previousYearContribution: Type.Optional(
      Type.Boolean({
        description:
          'Of an IRA_CONTRIBUTION: that it counts for the year before, from 1 January to the filing date.',
      }),
    ),
    memo: Type.Optional(
      line(140, {
        description:
          'A line for people, which the holders of both accounts read. Without control, bidirectional or invisible characters. Part of what makes an order the same.',
      }),
    ),
    status: Type.Optional(
      Type.Unsafe<unknown>({
        ...Transfer.properties.status,
        description: 'Set by the service: taken, and ignored.',
      }),
    ),
    createdAt: Type.Optional(
      Type.Unsafe<unknown>({
        type: 'string',
        format: 'date-time',
        description: 'Set by the service: taken, and ignored.',
      }),
    ),
  },
  { additionalProperties: false, description: 'An order to move money.' },
);

const TransferLimit = Type.Object(
  {
    appliesTo: knownValues(
      ['USER', 'CUSTOMER', 'ACCOUNT'],
      'Whose transfers count together: those of the user, those out of the accounts of the membership, those out of the account.',
    ),
    period: knownValues(['TRANSFER', 'DAY', 'MONTH'], 'TRANSFER bounds each transfer alone.'),
    remainingAmount: Type.Optional(
      Type.Number({
        description:
          'The most that one more transfer may move, in major units, when the limit was passed. Missing if transfers count that the caller may not see.',
      }),
    ),
    currencyCode: CurrencyCode,
    resetsAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the next period begins; missing with TRANSFER.',
      }),
    ),
  },
  { description: 'The limit that a transfer would exceed; of several the one that leaves the least.' },
);

const TransferReason = Type.Object({
  code: knownValues([...failureCodes, 'review', 'cut_off'], 'For programs.'),
  detail: Type.String({ description: 'For people.' }),
  limit: Type.Optional(TransferLimit),
});

export const TransferDecision = Type.Object(
  {
    transfer: Transfer,
    reasons: Type.Array(TransferReason, {
      description:
        'Why the transfer fails, or is held; empty if it posts at once, or is an earlier one that did not fail.',
    }),
  },
  {
    description:
      'The result of a dry run: the transfer as it would stand, or as it stands if the same order came before. Nothing was moved or stored.',
  },
);

const TransferOption = Type.Object(
  {
    toAccountId: Type.Optional(
      id('Destination account. Left out of the last option: any other deposit account of the institution.'),
    ),
    transferType: Type.Optional(TransferType),
    paymentOption: Type.Optional(PaymentOption),
    previousYearContribution: Type.Optional(
      Type.Boolean({ description: 'For which year a contribution to an IRA counts.' }),
    ),
    allowed: Type.Boolean(),
    maximumAmount: Type.Optional(
      Type.Number({ description: 'The most that may be moved now, in major units.' }),
    ),
    reviewAbove: Type.Optional(
      Type.Number({ description: 'More than this is held for review. Returned to client tokens only.' }),
    ),
    reason: Type.Optional(TransferReason),
  },
  { description: 'One destination.' },
);

export const TransferOptions = Type.Object(
  {
    fromAccountId: id('Source account.'),
    currencyCode: CurrencyCode,
    options: Type.Array(TransferOption),
  },
  { description: 'Where money may be moved from an account, and why not elsewhere.' },
);

const AccountChange = Type.Object(
  {
    accountId: Type.String(),
    sequence: Type.Integer({
      minimum: 1,
      description: 'The number of this change on the account: 1, 2, 3 …, each in one event.',
    }),
  },
  { description: 'A change of one account.' },
);

export const Event = Type.Object(
  {
    eventId: Type.String({ description: 'Different for each event, for ever.' }),
    eventType: Type.String({
      description:
        'transfer.pending, transfer.completed, transfer.failed, account.balance_opened, account.balance_adjusted (by the core), member.registered, member.activated, member.contact_changed, member.email_confirmation_requested, member.email_confirmed, member.password_changed, member.password_ended (after a hundred wrong ones). More may come.',
    }),
    timestamp: Type.String({ format: 'date-time' }),
    userId: Type.Optional(
      Type.String({ description: 'Whom it is about; of a transfer, the member who ordered it.' }),
    ),
    transfer: Type.Optional(Transfer),
    accounts: Type.Array(AccountChange, { description: 'The accounts whose balance or holds it changed.' }),
    data: Type.Optional(
      Type.Object(
        {},
        { additionalProperties: true, description: 'What else there is to tell; by event type.' },
      ),
    ),
  },
  { description: 'Something that happened. A transfer is told as the event left it.' },
);

export const ActivationCode = Type.Object(
  {
    activationCode: Type.String({ description: 'For `activateMember`, once.' }),
    userId: Type.String({ description: 'Whose it is.' }),
    expiresAt: Type.String({ format: 'date-time', description: 'It activates until then.' }),
  },
  { description: 'What gives a registered user their login. To be kept nowhere.' },
);

export const EmailCode = Type.Object(
  {
    emailCode: Type.String({ description: 'For `confirmEmail`, once.' }),
    userId: Type.String({ description: 'Whose it is.' }),
    expiresAt: Type.String({ format: 'date-time', description: 'It confirms until then.' }),
  },
  { description: 'What shows that a member reads an e-mail address. To be kept nowhere.' },
);

const ProblemCodeSchema = knownValues(
  problemCodes,
  'For programs: the same as at the end of `type`. Treat an unknown one by `status`.',
);

const InvalidPart = Type.Object({
  pointer: Type.String({
    description: 'A JSON pointer into the body (RFC 6901), or the name of a parameter or header.',
  }),
  detail: Type.String(),
});

const problemMembers = {
  type: Type.String({ format: 'uri-reference', description: 'Opens the page about the code.' }),
  title: Type.String({ description: 'The same for every occurrence of the code.' }),
  status: Type.Integer({ minimum: 400, maximum: 599 }),
  detail: Type.String({ description: 'About this occurrence, for people.' }),
  instance: Type.Optional(
    Type.String({ format: 'uri', description: 'The transaction id of this occurrence, where it is a UUID.' }),
  ),
  code: ProblemCodeSchema,
  errors: Type.Optional(
    Type.Array(InvalidPart, { description: 'The parts of the request that are not valid.' }),
  ),
};

export const ServiceStatus = Type.Object({
  status: Type.String({ description: '`live`, `ready` or `degraded`.' }),
  reason: Type.Optional(
    Type.String({ description: 'Of `degraded`: `commits_wait_for_standby` or `commits_wait`.' }),
  ),
});

export const ProblemDocument = Type.Object(problemMembers, { description: 'RFC 9457.' });

export const StepUpProblem = Type.Object(
  {
    ...problemMembers,
    max_age: Type.Optional(
      Type.Integer({ description: 'The seconds since the member logged in, at most (RFC 9470).' }),
    ),
  },
  {
    description: 'With `insufficient_user_authentication`: log the member in again, then repeat the request.',
  },
);

export const OutcomeUnknownProblem = Type.Object(
  { ...problemMembers, id: id('The id to repeat the transfer with.') },
  { description: 'Nobody knows yet whether the transfer happened. Repeating it with this id is safe.' },
);

export const DeclinedTransferProblem = Type.Object(
  { ...problemMembers, transfer: Transfer, limit: Type.Optional(TransferLimit) },
  {
    description:
      'A transfer that was understood, refused and kept as FAILED; `code` says why, and `limit` beside `limit_exceeded` which limit.',
  },
);

export const OAuthErrorDocument = Type.Object(
  {
    error: knownValues(
      [
        'invalid_request',
        'invalid_client',
        'invalid_grant',
        'unauthorized_client',
        'unsupported_grant_type',
        'invalid_scope',
      ],
      'For programs.',
    ),
    error_description: Type.Optional(Type.String({ description: 'For people.' })),
  },
  { description: 'RFC 6749, section 5.2.' },
);

/** The shapes that several operations share, by their names in openapi.json. */
export const namedSchemas = {
  Money,
  Profile,
  UserStatus,
  CustomerMembership,
  UserPhone,
  PhoneType,
  Account,
  AccountType,
  AccountStatus,
  AccountBalance,
  Transaction,
  Counterparty,
  Balances,
  Transfer,
  TransferOrder,
  TransferType,
  TransferStatus,
  FailureCode,
  PaymentOption,
  TransferDecision,
  TransferReason,
  TransferLimit,
  TransferOptions,
  TransferOption,
  Event,
  AccountChange,
  ActivationCode,
  ServiceStatus,
  EmailCode,
  Problem: ProblemDocument,
  ProblemCode: ProblemCodeSchema,
  InvalidPart,
  StepUpProblem,
  OutcomeUnknownProblem,
  DeclinedTransferProblem,
  OAuthError: OAuthErrorDocument,
} as const;
