import type { Browser, Locator, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { settled, show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

/**
 * The ledger from top to bottom, by the keyboard: the trial balance, the accounts of a class at its moment, one of them, an entry, the posting with
 * both sides, the account of the institution on its other side, and from an entry of that back to the account of the member.
 */
export async function walksLedger(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [viewport, colorScheme] of [
    [sizes.desktop, 'light'],
    [sizes.phone, 'dark'],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport, colorScheme });
    await signIn(page, url, 'Demo viewer');
    await show(page, url, 'ledger');
    const look = async (place: string) => {
      await settled(page);
      const breaches = [...(await breachesOf(page)), ...(await layoutFaults(page))];
      found.push(...breaches.map((breach) => `${colorScheme} ${place}: ${breach}`));
    };
    const trial = page.getByRole('region', { name: 'Trial balance' });
    const row = trial.locator('tbody tr').filter({ has: page.getByRole('link', { name: 'Checking' }) });
    await row.waitFor();
    const balance = await cellOf(row, 6);
    const counted = await cellOf(row, 3);
    await row.getByRole('link', { name: 'Checking' }).press('Enter');
    await page.getByRole('heading', { name: 'Checking, USD', level: 1 }).waitFor();
    const accounts = page.getByRole('region', { name: 'Accounts not at zero' }).locator('tbody tr');
    await accounts.first().waitFor();
    await look('a class');
    const balances = await Promise.all((await accounts.all()).map((one) => cellOf(one, 3)));
    const sum = balances.reduce((total, one) => total + cents(one), 0n);
    if (sum !== cents(balance)) found.push(`the accounts sum to ${sum}, and the class is ${balance}`);
    if (balances.length !== Number(counted)) found.push(`${balances.length} accounts of ${counted}`);
    await page.getByRole('link', { name: 'a-1002-checking' }).press('Enter');
    await page.getByRole('heading', { name: 'Share Draft', level: 1 }).waitFor();
    await openFirstEntry(page);
    const sides = page.getByRole('region', { name: 'Entries on both sides' });
    await sides.getByRole('link', { name: 'internal:core-settlement:USD' }).press('Enter');
    await page.getByRole('heading', { name: 'Core settlement, USD', level: 1 }).waitFor();
    await page.getByText('An account of the institution.').waitFor();
    await look('an account of the institution');
    await openFirstEntry(page);
    await sides.locator('tbody tr').nth(1).waitFor();
    await sides.getByRole('link', { name: /^a-/ }).press('Enter');
    await page.getByRole('region', { name: 'Entries', exact: true }).waitFor();
    found.push(...faults);
    await page.context().close();
  }
  return [...found, ...(await keepsMoment(browser, url))];
}

/** The trial balance of a minute leads to the balances of that minute; an internal class leads to its account. */
async function keepsMoment(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo auditor');
  await show(page, url, 'ledger?at=2020-01-02T09:00');
  const trial = page.getByRole('region', { name: 'Trial balance' });
  await trial.getByRole('link', { name: 'Savings', exact: true }).press('Enter');
  await page.getByText(/^Balances before Jan 2, 2020/).waitFor();
  await page.getByText('Every account of the class was at zero.').waitFor();
  await show(page, url, 'ledger');
  await trial.getByRole('link', { name: 'Core settlement' }).press('Enter');
  await page.getByRole('heading', { name: 'Core settlement, USD', level: 1 }).waitFor();
  // An address that somebody has changed by hand is refused with a sentence.
  await show(page, url, 'classes/NOTHING?currency=USD&before=yesterday');
  await page.getByRole('button', { name: 'Try again' }).waitFor();
  await page.context().close();
  const administrator = await openPage(browser, { viewport: sizes.desktop });
  await signIn(administrator.page, url, 'Demo administrator');
  await show(administrator.page, url, 'ledger');
  const cells = administrator.page.getByRole('region', { name: 'Trial balance' }).locator('tbody');
  await cells.first().waitFor();
  const links = await cells.getByRole('link').count();
  await administrator.page.context().close();
  const refused = faults.filter((fault) => !/status of 400/.test(fault));
  return [...refused, ...(links === 0 ? [] : [`an administrator sees ${links} links to accounts`])];
}

async function openFirstEntry(page: Page): Promise<void> {
  const entries = page.getByRole('region', { name: 'Entries', exact: true });
  await entries.getByRole('link', { name: '1', exact: true }).press('Enter');
  await page.getByRole('heading', { name: 'Posting', level: 1 }).waitFor();
}

async function cellOf(row: Locator, place: number): Promise<string> {
  return (await row.getByRole('cell').nth(place).innerText()).trim();
}

/** Of an amount as the page shows it, like −$1,234.50. */
function cents(shown: string): bigint {
  const digits = BigInt(shown.replaceAll(/\D/g, ''));
  return /[-−(]/.test(shown) ? -digits : digits;
}
