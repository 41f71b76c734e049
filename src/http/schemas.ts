import * as Type from 'typebox/type';
import { transactionTypes } from '../feed/index.ts';
import { stepUpActs } from '../institutions/index.ts';
import { phoneTypes, userIdTypes, userRoles } from '../members/index.ts';
import { publicId } from '../shared/public-id.ts';
import { failureCodes, loanPaymentOptions, transferTypes } from '../transfers/index.ts';
import { problemCodes } from './problems.ts';

/** Shapes that several operations share. openapi.json has each once, under its name here. */

/** One line of text in any script, without control characters. */
export function line(maxLength: number, options: { description?: string } = {}) {
  return Type.String({ minLength: 1, maxLength, pattern: '^[^\\u0000-\\u001f\\u007f]*$', ...options });
}

function id(description: string) {
  return Type.String({ pattern: publicId.source, description });
}

function oneOf<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({ type: 'string', enum: [...values], description });
}

/** An enumeration of a response that may grow. Generated clients get a string, since they throw at an unlisted value. */
export function knownValues<const Values extends readonly string[]>(values: Values, description: string) {
  return Type.Unsafe<Values[number]>({
    type: 'string',
    description: `${description} New values may be added.`,
    'x-extensible-enum': [...values],
  });
}

export const EmailAddress = Type.String({ format: 'email', maxLength: 254 });
export const PhoneType = oneOf(phoneTypes, 'The type of the phone number.');
export const TransferType = oneOf(
  transferTypes,
  'Derived from the accounts, destination first: an IRA, a loan or credit line, one membership, two memberships of one user, else INTRA_FI.',
);
export const UserIdType = oneOf(userIdTypes, 'The kind of id in the path.');

export const TransferStatus = oneOf(
  ['PENDING', 'COMPLETED', 'FAILED'],
  'COMPLETED and FAILED are final. While a transfer is PENDING, its amount is held on the source account.',
);
const PaymentOption = oneOf(
  loanPaymentOptions,
  'The order of allocation of a LOAN_PAYMENT. DEFAULT is fees, interest, principal; an institution may allow the others.',
);

export const TransactionTypeFilter = oneOf(transactionTypes, 'Only this type.');
export const TransactionStatus = oneOf(['POSTED', 'PENDING'], 'Default: both.');

export const CurrencyCode = Type.String({ pattern: '^[A-Z]{3}$', description: 'ISO 4217.' });

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
      'Current is the posted balance: of a deposit the money in it, of a loan the principal owed, of a credit line the amount owed. Available is a deposit’s current balance less holds, a credit line’s unused part, and 0 for a loan.',
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
    userRole: knownValues(userRoles, 'In the requested membership, else the highest over all memberships.'),
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
    accountNumber: Type.String({ description: 'For a card, its last four digits.' }),
    accountType: AccountType,
    category: oneOf(
      ['DEPOSIT', 'LOAN', 'CREDIT', 'INVESTMENT'],
      'The category of the account for its holder.',
    ),
    balance: AccountBalance,
    accountStatus: AccountStatus,
    balancesAsOf: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'While the core that keeps the books is away: the time that the balances are true for.',
      }),
    ),
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
      Type.String({
        description: 'Present if the token may see that account or the transfer. A payee does not see it.',
      }),
    ),
  },
  { description: 'The other end of a transfer, as far as the caller may know it.' },
);

export const Transaction = Type.Object(
  {
    id: Type.String({
      description: 'Unique on its account. A transfer keeps it from pending to posted.',
    }),
    transactionDate: Type.String({
      format: 'date-time',
      description:
        'Time of posting, of a transaction of the core the time at the core; while pending, time of the order. A page is in the order of arrival here.',
    }),
    type: knownValues(transactionTypes, 'PAYMENT is a payment on a loan or credit line.'),
    description: Type.String({ description: 'For people.' }),
    amount: Type.Object(Money.properties, { description: 'The change of the balance.' }),
    ledgerBalance: Type.Optional(
      Type.Object(Money.properties, {
        description:
          'The balance after it; missing while pending. A debt is positive; of a loan it is the whole debt with interest and fees.',
      }),
    ),
    isPending: Type.Boolean({ description: 'Held, not posted yet.' }),
    isCreditTransaction: Type.Boolean({ description: 'Whether the account was credited.' }),
    transferId: Type.Optional(
      Type.String({ description: 'The transfer behind it, if the token may see it.' }),
    ),
    memo: Type.Optional(Type.String({ description: 'The memo of the order.' })),
    reverses: Type.Optional(
      Type.String({ description: 'The transfer that this one reverses, if the caller may see it.' }),
    ),
    reversedBy: Type.Optional(
      Type.String({ description: 'The transfer by which the institution reversed this one.' }),
    ),
    counterparty: Type.Optional(Counterparty),
    merchant: Type.Optional(
      Type.String({ description: 'The merchant of a card payment, as the core states it.' }),
    ),
    category: Type.Optional(Type.String({ description: 'The kind of spending, as the core states it.' })),
    checkNumber: Type.Optional(Type.String({ description: 'The number of a check.' })),
    effectiveDate: Type.Optional(
      Type.String({
        format: 'date',
        description: 'The business date at the core.',
      }),
    ),
  },
  { description: 'A transaction of an account. The balance is the sum of the posted amounts.' },
);

export const Balances = Type.Object(
  {
    accountId: Type.String(),
    asOf: Type.String({ format: 'date-time' }),
    effectiveDate: Type.Optional(
      Type.String({
        format: 'date',
        description: 'The business day, if the request names one; `asOf` is now.',
      }),
    ),
    balance: AccountBalance,
  },
  {
    description:
      'As on the account, at a moment. Of a loan, current is the whole debt with interest and fees. A credit line’s available is computed with the line of today.',
  },
);

export const Transfer = Type.Object(
  {
    id: id('Unique identifier of the transfer, and its idempotency key forever.'),
    transferType: Type.Optional(TransferType),
    fromAccountId: id('Source account.'),
    toAccountId: id('Destination account.'),
    // Amounts of responses have no bounds: with them, a generated Python model refuses parsed values.
    amount: Type.Number({ description: 'In major units of the currency.' }),
    currencyCode: CurrencyCode,
    status: TransferStatus,
    createdAt: Type.String({ format: 'date-time' }),
    failureCode: Type.Optional(FailureCode),
    memo: Type.Optional(
      line(140, {
        description: 'The memo of the order, visible to the holders of both accounts.',
      }),
    ),
    reverses: Type.Optional(id('The transfer that this one reverses, if the caller may see it.')),
    reversedBy: Type.Optional(id('The transfer by which the institution reversed this one.')),
  },
  {
    description:
      'A transfer between two accounts. `transferType` is missing only if the transfer FAILED before its type was known.',
  },
);

export const TransferOrder = Type.Object(
  {
    id: Type.Optional(
      Type.Unsafe<string>({
        ...id('The caller’s own id, and the idempotency key forever. Default: a generated one.'),
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
      Type.String({
        pattern: '^[A-Z]{3}$',
        description: 'ISO 4217. Default: the currency of the source account.',
      }),
    ),
    paymentOption: Type.Optional(PaymentOption),
    previousYearContribution: Type.Optional(
      Type.Boolean({
        description:
          'Counts an IRA_CONTRIBUTION for the year before. Allowed from 1 January to the filing date.',
      }),
    ),
    memo: Type.Optional(
      line(140, {
        description:
          'A line for people, visible to the holders of both accounts. Must not contain control, bidirectional or invisible characters. A repeated order must have the same memo.',
      }),
    ),
    status: Type.Optional(
      Type.Unsafe<unknown>({
        ...Transfer.properties.status,
        description: 'Set by the service; accepted and ignored.',
      }),
    ),
    createdAt: Type.Optional(
      Type.Unsafe<unknown>({
        type: 'string',
        format: 'date-time',
        description: 'Set by the service; accepted and ignored.',
      }),
    ),
  },
  { additionalProperties: false, description: 'An order to move money.' },
);

const TransferLimit = Type.Object(
  {
    appliesTo: knownValues(
      ['USER', 'CUSTOMER', 'ACCOUNT'],
      'The transfers that count together: those of the user, those from the accounts of the membership, or those from the account.',
    ),
    period: knownValues(['TRANSFER', 'DAY', 'MONTH'], 'TRANSFER limits each single transfer.'),
    remainingAmount: Type.Optional(
      Type.Number({
        description:
          'The most that another transfer could move, in major units, when the limit was exceeded. Missing if the limit counts transfers that the caller may not see.',
      }),
    ),
    currencyCode: CurrencyCode,
    resetsAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'Start of the next period; missing with TRANSFER.',
      }),
    ),
  },
  { description: 'The limit that a transfer would exceed; of several, the one with the least remaining.' },
);

const TransferReason = Type.Object({
  code: knownValues([...failureCodes, 'review', 'cut_off', 'core'], 'Meant for programs.'),
  detail: Type.String({ description: 'For people.' }),
  limit: Type.Optional(TransferLimit),
});

export const TransferDecision = Type.Object(
  {
    transfer: Transfer,
    reasons: Type.Array(TransferReason, {
      description:
        'The reasons why the transfer fails or is held. Empty if it posts at once, or if an earlier transfer is returned that did not fail.',
    }),
  },
  {
    description:
      'The result of a dry run: the transfer as the order would create it, or the existing transfer if the same order was sent before. Nothing was moved or stored.',
  },
);

const TransferOption = Type.Object(
  {
    toAccountId: Type.Optional(
      id(
        'Destination account. The last option has none: it stands for any other deposit account of the institution.',
      ),
    ),
    transferType: Type.Optional(TransferType),
    paymentOption: Type.Optional(PaymentOption),
    previousYearContribution: Type.Optional(
      Type.Boolean({ description: 'Whether a contribution to an IRA counts for the year before.' }),
    ),
    allowed: Type.Boolean(),
    maximumAmount: Type.Optional(
      Type.Number({ description: 'The most that may be moved now, in major units.' }),
    ),
    reviewAbove: Type.Optional(
      Type.Number({ description: 'A larger amount is held for review. Returned to client tokens only.' }),
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
  { description: 'The possible destinations of transfers from an account.' },
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
    eventId: Type.String({ description: 'Unique forever.' }),
    sequence: Type.Integer({
      description:
        'Number in the feed of the institution: 1, 2, 3 … without a gap. A missing number is a missed event: read it with `from`.',
    }),
    eventType: Type.String({
      description:
        'transfer.pending, transfer.completed, transfer.failed, account.balance_opened, account.balance_adjusted (by the core), member.registered, member.activation_requested (a forgotten password), member.activated, member.contact_changed, member.email_confirmation_requested, member.email_confirmed, member.password_changed, member.password_ended (after a hundred wrong ones), member.new_device (a sign-in from one; `data` has the clientId), member.second_factor_added, member.second_factor_removed (an authenticator app), member.recovery_code_used, member.alert_raised, consent.granted, consent.narrowed, consent.ended. New values may be added.',
    }),
    timestamp: Type.String({ format: 'date-time' }),
    userId: Type.Optional(
      Type.String({ description: 'The member of the event; for a transfer, the member who ordered it.' }),
    ),
    transfer: Type.Optional(Transfer),
    accounts: Type.Array(AccountChange, { description: 'The accounts with a changed balance or hold.' }),
    data: Type.Optional(
      Type.Object({}, { additionalProperties: true, description: 'Additional data, by event type.' }),
    ),
  },
  { description: 'An event. A transfer is in the state that the event left.' },
);

export const ActivationCode = Type.Object(
  {
    activationCode: Type.String({ description: 'For `activateMember`, once.' }),
    userId: Type.String({ description: 'The user of the code.' }),
    expiresAt: Type.String({ format: 'date-time', description: 'Expiry of the code.' }),
  },
  { description: 'The code with which a registered user gets a login. Do not store it.' },
);

export const EmailCode = Type.Object(
  {
    emailCode: Type.String({ description: 'For `confirmEmail`, once.' }),
    userId: Type.String({ description: 'The user of the code.' }),
    expiresAt: Type.String({ format: 'date-time', description: 'Expiry of the code.' }),
  },
  { description: 'The code that proves that a member reads an e-mail address. Do not store it.' },
);

const ProblemCodeSchema = knownValues(
  problemCodes,
  'For programs: the same as at the end of `type`. Handle an unknown code by `status`.',
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
  detail: Type.String({ description: 'Explanation of this occurrence, for people.' }),
  instance: Type.Optional(
    Type.String({ format: 'uri', description: 'The transaction id of this occurrence, if it is a UUID.' }),
  ),
  code: ProblemCodeSchema,
  errors: Type.Optional(Type.Array(InvalidPart, { description: 'The invalid parts of the request.' })),
};

export const ServiceStatus = Type.Object({
  status: Type.String({ description: '`live`, `ready` or `degraded`.' }),
  reason: Type.Optional(
    Type.String({ description: 'With `degraded`: `commits_wait_for_standby` or `commits_wait`.' }),
  ),
});

export const ProblemDocument = Type.Object(problemMembers, { description: 'RFC 9457.' });

export const StepUpProblem = Type.Object(
  {
    ...problemMembers,
    max_age: Type.Optional(
      Type.Integer({ description: 'The most seconds since the member’s login (RFC 9470).' }),
    ),
    acr_values: Type.Optional(Type.String({ description: '`phr`: the login must be one with a passkey.' })),
    step_up: Type.Optional(
      Type.Unsafe<string>({
        type: 'string',
        description: `The act: ${stepUpActs.join(', ')}. Send it along, and the page of sign-in names it. More may be added.`,
      }),
    ),
  },
  {
    description: 'With `insufficient_user_authentication`: log the member in again, then repeat the request.',
  },
);

export const OutcomeUnknownProblem = Type.Object(
  { ...problemMembers, id: id('The id to repeat the transfer with.') },
  { description: 'The outcome of the transfer is not known yet. Repeating it with this id is safe.' },
);

export const DeclinedTransferProblem = Type.Object(
  { ...problemMembers, transfer: Transfer, limit: Type.Optional(TransferLimit) },
  {
    description:
      'A valid order that was declined and stored as FAILED. `code` has the reason and, with `limit_exceeded`, `limit` has the limit.',
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
        'invalid_dpop_proof',
        'use_dpop_nonce',
      ],
      'Meant for programs.',
    ),
    error_description: Type.Optional(Type.String({ description: 'For people.' })),
  },
  { description: 'RFC 6749, section 5.2.' },
);

/** The shared shapes, by their names in openapi.json. */
export const Instruction = Type.Object(
  {
    id: Type.String({ description: 'The idempotency key at the core, for ever: the id of the transfer.' }),
    sequence: Type.Integer({ description: 'Grows in the order of delivery. Numbers may be missing.' }),
    type: knownValues(transferTypes, 'The type of the transfer.'),
    fromAccountId: Type.String(),
    toAccountId: Type.String(),
    amount: Type.Number({
      description: 'In major units, written with exactly the decimals of the currency.',
    }),
    currencyCode: CurrencyCode,
    businessDate: Type.String({
      format: 'date',
      description: 'The business day that the transfer belongs to.',
    }),
    memo: Type.Optional(Type.String()),
    orderedAt: Type.String({ format: 'date-time' }),
    reverses: Type.Optional(Type.String({ description: 'The id of the transfer that this one takes back.' })),
    leaseUntil: Type.Optional(
      Type.String({ format: 'date-time', description: 'Until then no other client gets it.' }),
    ),
  },
  { description: 'A transfer that the core must carry out.' },
);

export const InstructionOutcome = Type.Object(
  {
    id: Type.String(),
    outcome: knownValues(['ACCEPTED', 'REJECTED'], 'As reported.'),
    transferStatus: TransferStatus,
  },
  {
    description:
      'The outcome of an instruction. A rejected transfer that stays COMPLETED was reversed by another.',
  },
);

const OpenInstructions = Type.Object(
  {
    mode: knownValues(
      ['WAIT', 'MEMO', 'STAND_IN'],
      'WAIT: the transfer is held. MEMO and STAND_IN: it has completed, and a refusal reverses it.',
    ),
    currencyCode: CurrencyCode,
    instructions: Type.Integer(),
    delivered: Type.Integer({ description: 'Of these, those that the core has fetched.' }),
    amount: Type.Number({
      description: 'In major units, written with exactly the decimals of the currency.',
    }),
  },
  { description: 'Instructions of one mode and currency that the core has not decided.' },
);

export const CoreConnection = Type.Object(
  {
    state: knownValues(['connected', 'late', 'away'], 'While it is away, stand-in limits apply.'),
    heardAt: Type.Optional(
      Type.String({ format: 'date-time', description: 'The last request of the core. Missing: none yet.' }),
    ),
    oldestUndeliveredAt: Type.Optional(
      Type.String({
        format: 'date-time',
        description: 'When the oldest instruction that it has not fetched was issued.',
      }),
    ),
    openInstructions: Type.Array(OpenInstructions),
  },
  { description: 'The connection to the core that keeps the books.' },
);

export const Heartbeat = Type.Object(
  { noted: Type.Boolean({ description: '`true`.' }) },
  { description: 'The sign of life is noted.' },
);

export const OutcomeReport = Type.Object(
  {
    outcome: Type.Unsafe<'ACCEPTED' | 'REJECTED'>({ type: 'string', enum: ['ACCEPTED', 'REJECTED'] }),
    coreReference: Type.Optional(
      Type.String({
        pattern: '^[!-~]{1,64}$',
        description: 'With ACCEPTED: the id of the posting at the core.',
      }),
    ),
    code: Type.Optional(
      Type.String({ pattern: '^[A-Za-z0-9._-]{1,64}$', description: 'With REJECTED: why, in a word.' }),
    ),
    reason: Type.Optional(line(140, { description: 'With REJECTED: why, in a sentence for operators.' })),
  },
  { additionalProperties: false, description: 'The outcome of an instruction.' },
);

export const namedSchemas = {
  Instruction,
  Heartbeat,
  OutcomeReport,
  InstructionOutcome,
  CoreConnection,
  OpenInstructions,
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
