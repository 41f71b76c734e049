import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { orderMany, settled, show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

/** More than the first page of the console has. */
const orders = 120;
const address = 'transfers?accountId=a-1002-savings&mostAmount=1.20';

function partOf(page: Page, name: string): string | null {
  return new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(name);
}

function head(page: Page, name: string) {
  return page.getByRole('columnheader', { name: new RegExp(`^${name}`) });
}

/** Waits until the first row has a text. */
async function begins(page: Page, text: string): Promise<void> {
  await page.locator('tbody tr').first().filter({ hasText: text }).waitFor();
}

async function saved(page: Page): Promise<string[][]> {
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save all as CSV' }).click(),
  ]);
  const [, ...lines] = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  return lines.map((line) => line.split(','));
}

/**
 * A list that is longer than its first page: the service sorts all of it by amount, also for the file and the next search; other columns sort only
 * when all rows are here. The oldest transfer has the largest amount, so that the first page lacks it.
 */
export async function sortsWholeList(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const expect = (isTrue: boolean, fault: string) => isTrue || found.push(fault);
  await orderMany(
    url,
    Array.from({ length: orders }, (_, at) => ({
      ...{ id: `sort-${at}`, toAccountId: 'a-1002-savings' },
      amount: (orders - at) / 100,
    })),
  );
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop, reducedMotion: 'reduce' });
  await signIn(page, url, 'Demo auditor');
  await show(page, url, address);
  await begins(page, '$0.01');
  await page
    .getByText('100 rows are loaded, and more follow. Ordered and Amount sort the whole list')
    .waitFor();
  expect((await head(page, 'Type').getByRole('button').count()) === 0, 'a part of the list sorts by type');
  const amount = head(page, 'Amount').getByRole('button');
  await amount.press('Enter');
  await page.locator('th[aria-sort=ascending]').waitFor();
  await amount.press('Enter');
  await begins(page, '$1.20');
  expect(await amount.evaluate((element) => element.matches(':focus')), 'the head has lost the focus');
  // The address follows the keys a moment later.
  await page.waitForURL(() => partOf(page, 'transfers.sort') === '-amount');
  for (const viewport of [sizes.desktop, sizes.phone]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await breachesOf(page)), ...(await layoutFaults(page)));
    }
  }
  await page.setViewportSize(sizes.desktop);
  await page.reload();
  await begins(page, '$1.20');
  const byAmount = (await saved(page)).map((cells) => cells[5]);
  const expected = Array.from({ length: orders }, (_, at) => ((orders - at) / 100).toFixed(2));
  expect(byAmount.join() === expected.join(), `the file has ${byAmount.length} rows, or another order`);
  // The order stays for the next search.
  await page.getByRole('button', { name: '7 days', exact: true }).click();
  await page.waitForURL(() => partOf(page, 'until') !== null);
  await settled(page);
  await begins(page, '$1.20');
  expect(partOf(page, 'transfers.sort') === '-amount', 'a search drops the order');
  // All rows sort here, by each column.
  await page.getByRole('button', { name: 'Load all rows' }).click();
  await head(page, 'Transfer').getByRole('button').click();
  await begins(page, 'sort-0');
  const byId = (await saved(page)).map((cells) => cells[1] ?? '');
  expect(byId.join() === byId.toSorted().join() && byId.length === orders, 'the file has another order');
  await amount.click();
  await begins(page, '$0.01');
  await show(page, url, 'audit');
  await head(page, 'At').getByRole('button').click();
  await head(page, 'At').getByRole('button').click();
  await begins(page, 'audit.read');
  await page.locator('th[aria-sort=descending]').waitFor();
  await page.context().close();
  return [...found, ...faults];
}
