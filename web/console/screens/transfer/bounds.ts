import { wordOf } from '../../format.ts';

const subjects: Readonly<Record<string, string>> = {
  USER: 'of the member',
  CUSTOMER: 'of the membership',
  ACCOUNT: 'of the account',
};
const periods: Readonly<Record<string, string>> = { DAY: 'by day', MONTH: 'by month', TRANSFER: 'each' };

/** `of the member, by day`. */
export function boundOf({ subject, period }: { readonly subject: string; readonly period: string }): string {
  return `${subjects[subject] ?? wordOf(subject)}, ${periods[period] ?? wordOf(period)}`;
}
