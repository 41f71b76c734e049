import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { order, show, signIn } from './console-page.ts';

/** A transfer that is ordered while Today is open appears there, and the page asks for nothing. */
export async function followed(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/operations/v1/today')) asked.push('the page asks beside its stream');
  });
  await signIn(page, url, 'Demo viewer');
  await show(page, url, 'today');
  await countsUp(page, url, 'walk-4');
  await page.getByRole('region', { name: 'Transfers', exact: true }).getByRole('link').click();
  await page.getByRole('link', { name: 'walk-4' }).waitFor();
  // The period of the link stands in the fields, and has a way out.
  await page.getByRole('button', { name: 'Today', exact: true, pressed: true }).waitFor();
  await page.getByRole('button', { name: 'Any time' }).click();
  await page.waitForURL(`${url}/console#/transfers`);
  await page.getByRole('link', { name: 'walk-4' }).waitFor();
  await page.context().close();
  return [...faults, ...asked];
}

/** A proxy that lets no stream through: the page asks every ten seconds. */
export async function followedWithoutStream(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await page.route(/\/today\/stream/, (route) => route.abort());
  await signIn(page, url, 'Demo viewer');
  await show(page, url, 'today');
  await countsUp(page, url, 'walk-5');
  await page.context().close();
  return [];
}

async function countsUp(page: Page, url: string, id: string): Promise<void> {
  const figure = page.getByRole('region', { name: 'Transfers', exact: true }).getByRole('link');
  const before = Number(await figure.textContent());
  await order(url, { id, amount: 3, toAccountId: 'a-1002-savings' });
  await figure.getByText(String(before + 1), { exact: true }).waitFor();
}

/** Today counts a transfer that comes to wait in its band of age, and the count leads to it alone. */
export async function agesLead(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.phone });
  await signIn(page, url, 'Demo approver');
  await show(page, url, 'today');
  await order(url, { id: 'walk-7', amount: 501, toAccountId: 'a-1001-savings' });
  const card = page.getByRole('region', { name: 'Waiting, by reason and age' });
  const reviews = card.getByRole('listitem').filter({ hasText: 'Review' });
  const figure = reviews.locator('dl > div').filter({ hasText: 'Under 15 min' }).getByRole('link');
  await figure.filter({ hasNotText: /^0$/ }).waitFor();
  found.push(...(await breachesOf(page)));
  await figure.click();
  await page.waitForURL(({ hash }) => hash === '#/review?heldFor=REVIEW&age=UNDER_15_MINUTES');
  await page.getByRole('button', { name: 'walk-7' }).click();
  // Both accounts stand there with their balances.
  for (const [side, id] of [
    ['From', 'a-1002-checking'],
    ['To', 'a-1001-savings'],
  ] as const) {
    const account = page.getByRole('region', { name: side, exact: true });
    await account.getByRole('link', { name: id }).waitFor();
    for (const name of ['Current', 'Available'])
      await account
        .locator('dl > div')
        .filter({ hasText: name })
        .getByText(/^\$[\d,]+\.\d\d$/)
        .waitFor();
  }
  found.push(...(await breachesOf(page)));
  await page.getByLabel('Age').selectOption('OLDER');
  await page.getByText('No transfer that waits fits the filter.').waitFor();
  await page.getByLabel('Age').selectOption('UNDER_15_MINUTES');
  await page.getByRole('button', { name: 'walk-7' }).click();
  await page.keyboard.press('d');
  await page.getByLabel('Reason').fill('Not known');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'walk-7' }).waitFor({ state: 'detached' });
  await page.context().close();
  return [...found, ...faults];
}

/** A transfer that another person declines leaves the open queue, and a new one comes. */
export async function queueFollows(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  await show(page, url, 'review');
  const row = page.getByRole('button', { name: 'walk-3' });
  await row.click();
  const other = await openPage(browser, { viewport: sizes.desktop, colorScheme: 'dark' });
  await signIn(other.page, url, 'Second demo approver');
  await show(other.page, url, 'review');
  await other.page.getByRole('button', { name: 'walk-3' }).click();
  await other.page.keyboard.press('d');
  await other.page.getByLabel('Reason').fill('Not known');
  await other.page.keyboard.press('Enter');
  await row.waitFor({ state: 'detached' });
  // The limit of the day has room again.
  await order(url, { id: 'walk-6', amount: 501, toAccountId: 'a-1001-savings' });
  for (const one of [page, other.page]) await one.getByRole('button', { name: 'walk-6' }).waitFor();
  const found = [...(await breachesOf(page)), ...(await breachesOf(other.page))];
  await other.page.getByRole('button', { name: 'walk-6' }).click();
  await other.page.keyboard.press('d');
  await other.page.getByLabel('Reason').fill('Not known either');
  await other.page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'walk-6' }).waitFor({ state: 'detached' });
  await other.page.context().close();
  await page.context().close();
  return [...found, ...faults];
}
