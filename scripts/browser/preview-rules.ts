import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

/** A higher threshold is tried on the last days by the keyboard: an auditor sees the orders, an administrator the figures only. */
export async function previewsRules(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, seesOrders] of [
    ['Demo auditor', true],
    ['Demo administrator', false],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
    await signIn(page, url, name);
    await show(page, url, 'institution');
    const field = page
      .getByRole('group', { name: 'Reviews: Within the institution, USD' })
      .getByRole('textbox', { name: 'Review above' });
    await field.focus();
    await field.fill('1,50');
    await page.keyboard.press('Enter');
    await page.getByText('Write an amount in digits, like 105.25.').waitFor();
    await field.fill('1600');
    await page.keyboard.press('Enter');
    // Two approvals are needed above a smaller amount than a review: the service refuses it.
    await page.getByRole('region', { name: 'Rules of transfers' }).getByRole('alert').waitFor();
    await field.fill('1000');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: /would have another outcome/ }).waitFor();
    await page
      .getByRole('table', { name: 'Outcomes by both rules' })
      .getByText('Two approvals')
      .first()
      .waitFor();
    await addsLimit(page);
    const orders = await page.getByRole('table', { name: 'Orders with another outcome' }).count();
    if ((orders === 1) !== seesOrders) found.push(`${name} sees ${orders} tables of orders`);
    for (const viewport of Object.values(sizes)) {
      await page.setViewportSize(viewport);
      found.push(...(await breachesOf(page)), ...(await layoutFaults(page)));
    }
    // The browser itself reports the refusal.
    found.push(...faults.filter((fault) => !fault.includes('400')));
    await page.context().close();
  }
  return found;
}

/** A limit that the institution does not have declines an order of the past; without it nothing is declined. */
async function addsLimit(page: Page): Promise<void> {
  await pressOn(page, ['combobox', 'Counts for each'], 'u');
  await pressOn(page, ['combobox', 'In each'], 'm');
  await pressOn(page, ['button', 'Add the limit']);
  const added = page.getByRole('group', { name: /^Limit \d+: User and month, All types, USD$/ });
  await added.getByRole('textbox', { name: 'Most in one transfer' }).fill('1700');
  await page.keyboard.press('Enter');
  const outcomes = page.getByRole('table', { name: 'Outcomes by both rules' });
  await outcomes.getByText('Declined').first().waitFor();
  await added.getByRole('button', { name: 'Remove this limit' }).click();
  await added.waitFor({ state: 'detached' });
}
