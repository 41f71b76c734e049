import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { settled, show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

function partOf(page: Page, name: string): string | null {
  return new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(name);
}

/** Whether the list has walk-1, once it has been read. */
async function isListed(page: Page): Promise<boolean> {
  await settled(page);
  await page.locator('.table, .empty').first().waitFor();
  return (await page.getByRole('link', { name: 'walk-1', exact: true }).count()) > 0;
}

/** The period of a search: choices of one press, days and times in the fields, the address, the empty list and its way out, and a period that is refused. */
export async function searchesPeriod(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  // Without motion, colors are those of the scheme at once.
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop, reducedMotion: 'reduce' });
  await signIn(page, url, 'Demo auditor');
  await show(page, url, 'transfers?accountId=a-1002-checking');
  await page.getByRole('button', { name: '7 days', exact: true }).click();
  await page.getByRole('button', { name: '7 days', exact: true, pressed: true }).waitFor();
  const [since, until] = [partOf(page, 'since') ?? '', partOf(page, 'until') ?? ''];
  if (Date.parse(until) - Date.parse(since) !== 6 * 86_400_000) found.push(`7 days are ${since} to ${until}`);
  if (partOf(page, 'accountId') !== 'a-1002-checking') found.push('the choice has dropped another filter');
  if (!(await isListed(page))) found.push('the last 7 days lack walk-1');
  await page.reload();
  if ((await page.getByLabel('From day').inputValue()) !== since) found.push('a reload has another day');
  // Up to a time that is long ago.
  await page.getByLabel('From day').fill('');
  await page.getByLabel('To day').fill('2020-02-03');
  await page.getByLabel('To time').fill('04:05');
  await page.keyboard.press('Enter');
  await page.getByText('No transfer fits the search until Feb 3, 2020, 4:05 AM.').waitFor();
  if (partOf(page, 'until') !== '2020-02-03T04:05' || partOf(page, 'since') !== null)
    found.push(`another period: ${page.url()}`);
  for (const viewport of [sizes.desktop, sizes.phone, { width: 320, height: 568 }]) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      found.push(...(await breachesOf(page)), ...(await layoutFaults(page)));
    }
  }
  await page.getByRole('button', { name: 'Search any time' }).click();
  await page.waitForURL(`${url}/console#/transfers?accountId=a-1002-checking`);
  if (!(await isListed(page))) found.push('any time lacks walk-1');
  await page.getByLabel('From time').fill('10:00');
  await page.keyboard.press('Enter');
  await page.getByText('Choose the day of the time.').waitFor();
  await show(page, url, 'transfers?since=2026-11-21&until=2026-11-20');
  await page.getByText('The period ends before it begins. until: Must be later than `since`.').waitFor();
  await show(page, url, 'audit?since=nonsense');
  await page.getByText(/since: Must be a day like 2026-11-20/).waitFor();
  await page.getByRole('button', { name: 'Yesterday', exact: true }).click();
  await page.waitForURL(() => partOf(page, 'since') === partOf(page, 'until'));
  await settled(page);
  await page.context().close();
  // A request that is refused is an error of the console too.
  return [...found, ...faults.filter((fault) => !fault.includes('status of 400'))];
}
