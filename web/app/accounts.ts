import { type Account, fromMinor, type Money, toMinor } from '@sharedraft/client';

/** `Share Draft ··0110`. */
export function nameOf(account: Account): string {
  return `${account.accountType.description} ${endOf(account)}`;
}

/** The last four digits of the account's number. */
export function endOf({ accountNumber }: Account): string {
  return `··${accountNumber.replaceAll(/\D/g, '').slice(-4)}`;
}

const groups = [
  { category: 'DEPOSIT', title: 'Deposits' },
  { category: 'CREDIT', title: 'Cards and credit lines' },
  { category: 'LOAN', title: 'Loans' },
  { category: 'INVESTMENT', title: 'Investments' },
] as const;

/** The accounts by category, without empty groups. */
export function grouped(accounts: readonly Account[]) {
  return groups
    .map(({ category, title }) => ({ title, accounts: accounts.filter((one) => one.category === category) }))
    .filter((group) => group.accounts.length > 0);
}

/** The balance that a member asks for first, and the word for it. */
export function mainBalance({ category, balance }: Account) {
  return category === 'DEPOSIT' || category === 'INVESTMENT'
    ? { value: balance.availableBalance, word: 'available' }
    : { value: balance.currentBalance, word: 'owed' };
}

/** The sum of the main balances; undefined for a single account, and for accounts of several currencies. */
export function totalOf(accounts: readonly Account[]): Money | undefined {
  const balances = accounts.map((account) => mainBalance(account).value);
  const [first] = balances;
  if (first === undefined || balances.length === 1) return undefined;
  if (balances.some(({ currencyCode }) => currencyCode !== first.currencyCode)) return undefined;
  const decimals = first.amount.split('.')[1]?.length ?? 0;
  const sum = balances.reduce((total, { amount }) => total + toMinor(amount, decimals), 0n);
  return { amount: fromMinor(sum, decimals), currencyCode: first.currencyCode };
}

/** Types that money can leave, the most used first. */
const sourceTypes = ['CHECKING', 'SAVINGS', 'MONEY_MARKET'];

/** The accounts that money can leave. Whether this member may pay from one of them, its options say. */
export function sourcesOf(accounts: readonly Account[]): readonly Account[] {
  const rank = ({ accountType }: Account) => sourceTypes.indexOf(accountType.DIAccountType);
  return accounts
    .filter((account) => rank(account) !== -1 && account.accountStatus.open)
    .toSorted((left, right) => rank(left) - rank(right));
}
