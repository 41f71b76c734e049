/** Invented values. */

export const descriptorExample = {
  accountCategory: 'DEPOSIT_ACCOUNT',
  accountId: 'a-1001-checking',
  accountType: 'CHECKING',
  accountNumberDisplay: '0110',
  productName: 'Share Draft',
  status: 'OPEN',
  currency: { currencyCode: 'USD' },
} as const;

export const fdxAccountExample = {
  ...descriptorExample,
  currentBalance: 1290.5,
  availableBalance: 1240.5,
} as const;
