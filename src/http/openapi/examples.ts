/**
 * Invented values, shared by the examples of the operations. The demo institution has the members and accounts that they
 * name, so that the reference page can send each example unchanged.
 */

export const profileExample = {
  userId: '0199e0c4-5b7a-7c11-9d8e-2f6a51c0b3d4',
  firstName: 'Wilhelmina',
  lastName: 'Quillfeather',
  emailAddress: 'wilhelmina@quillfeather.example',
  userRole: 'PRIMARY',
  userType: 'RETAIL',
  userStatus: { active: true, locked: false },
  customers: [{ customerId: 'cus-700101', memberNumber: '700101' }],
  phoneNumbers: [{ phoneNumber: '+12025550143', phoneType: 'MOBILE' }],
} as const;

export const accountExample = {
  accountId: 'a-1001-checking',
  accountNumber: '70010110',
  accountType: { DIAccountType: 'CHECKING', description: 'Share Draft' },
  category: 'DEPOSIT',
  balance: {
    availableBalance: { amount: 1240.5, currencyCode: 'USD' },
    currentBalance: { amount: 1290.5, currencyCode: 'USD' },
  },
  accountStatus: { open: true, closed: false, delinquent: false },
} as const;

export const loanExample = {
  accountId: 'a-1001-carloan',
  accountNumber: '70010155',
  accountType: { DIAccountType: 'INSTALLMENT_LOAN', description: 'Car Loan' },
  category: 'LOAN',
  balance: {
    availableBalance: { amount: 0, currencyCode: 'USD' },
    currentBalance: { amount: 8420.17, currencyCode: 'USD' },
  },
  accountStatus: { open: true, closed: false, delinquent: false },
} as const;

export const transferExample = {
  id: 'rent-2026-11',
  transferType: 'STANDARD',
  fromAccountId: 'a-1001-checking',
  toAccountId: 'a-1001-savings',
  amount: 105.25,
  currencyCode: 'USD',
  status: 'COMPLETED',
  createdAt: '2026-11-20T15:04:05.678Z',
} as const;

const { status: _status, createdAt: _createdAt, ...orderExample } = transferExample;

export { orderExample };

export const pendingTransferExample = { ...transferExample, id: 'rent-2026-12', status: 'PENDING' } as const;

export const declinedTransferExample = {
  ...transferExample,
  id: 'roof-2026-11',
  amount: 98000.75,
  status: 'FAILED',
  failureCode: 'insufficient_funds',
} as const;

export const instructionExample = {
  id: transferExample.id,
  sequence: 871,
  type: 'STANDARD',
  fromAccountId: transferExample.fromAccountId,
  toAccountId: transferExample.toAccountId,
  amount: 105.25,
  currencyCode: 'USD',
  businessDate: '2026-11-20',
  orderedAt: transferExample.createdAt,
  leaseUntil: '2026-11-20T15:05:06.011Z',
} as const;

export const coreConnectionExample = {
  state: 'connected',
  heardAt: '2026-11-20T15:04:58.102Z',
  openInstructions: [
    { mode: 'WAIT', currencyCode: 'USD', instructions: 3, delivered: 2, amount: 410.75 },
    { mode: 'STAND_IN', currencyCode: 'USD', instructions: 1, delivered: 0, amount: 50.0 },
  ],
} as const;

export const postedTransactionExample = {
  id: '48213',
  transactionDate: '2026-11-20T15:04:05.678Z',
  type: 'TRANSFER_DEBIT',
  description: 'Transfer out',
  amount: { amount: -105.25, currencyCode: 'USD' },
  ledgerBalance: { amount: 1290.5, currencyCode: 'USD' },
  isPending: false,
  isCreditTransaction: false,
  transferId: transferExample.id,
  counterparty: { name: 'Wilhelmina Quillfeather', accountId: 'a-1001-savings' },
} as const;

const { ledgerBalance: _, ...unposted } = postedTransactionExample;
export const pendingTransactionExample = {
  ...unposted,
  id: '48977',
  isPending: true,
  transferId: pendingTransferExample.id,
} as const;

export const transferEventExample = {
  eventId: '0-731822-90551',
  sequence: 90417,
  eventType: 'transfer.completed',
  timestamp: transferExample.createdAt,
  userId: profileExample.userId,
  transfer: transferExample,
  accounts: [
    { accountId: transferExample.fromAccountId, sequence: 118 },
    { accountId: transferExample.toAccountId, sequence: 7 },
  ],
} as const;

export const memberEventExample = {
  eventId: '0-731845-90552',
  sequence: 90418,
  eventType: 'member.registered',
  timestamp: '2026-11-20T15:06:00.000Z',
  userId: profileExample.userId,
  accounts: [],
  data: { userId: profileExample.userId, ...profileExample.customers[0] },
} as const;

export const activationCodeExample = 'Q7ZK2M4P-9T3WXC5R8YB6N1DGJFHS0VEAKM';

export const emailCodeExample = 'M4T7XKQ2-5HB8WJC1RZ6YVN3DGPFS0E9ATM';

export const parameterExamples: Readonly<Record<string, string>> = {
  accountId: transferExample.fromAccountId,
  fromAccountId: transferExample.fromAccountId,
  customerId: 'c-1001',
  id: transferExample.id,
  eventId: memberEventExample.eventId,
  alertId: '6f0f2a11-8f0e-8c5b-9a55-0b5e1a4e3f1f',
  consentId: '7a0e2d6c-4b1f-4f0e-9c55-0a6d3f5b8e21',
  endpointId: '0b5e1a4e-8f0e-4c5b-9a55-3f1f6f0f2a11',
  breakId: '17',
  asOf: '2026-03-02T06:00:00Z',
};
