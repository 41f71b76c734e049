import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

const ofTables = ['table', 'row', 'columnheader', 'cell', 'gridcell'];

/** Roles and names of a page's tables, as a screen reader gets them from the browser. */
async function heardOf(page: Page): Promise<string> {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send('Accessibility.getFullAXTree');
  const heard = nodes
    .filter(({ ignored, role }) => !ignored && ofTables.includes(role?.value))
    .map(({ role, name }) => `${role?.value} ${name?.value}`);
  return heard.join('\n');
}

/** On a phone the rows are cards: a screen reader hears the same table as on a desktop, and its heads sort. */
export async function staysTable(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator');
  for (const address of ['clients', 'operators', 'institution', 'ledger']) {
    await page.setViewportSize(sizes.desktop);
    await show(page, url, address);
    const heard = await heardOf(page);
    await page.setViewportSize(sizes.phone);
    if (!/^row /m.test(heard)) found.push(`${address}: no row is heard`);
    if ((await heardOf(page)) !== heard) found.push(`${address}: another table is heard on a phone`);
    found.push(...(await layoutFaults(page)));
  }
  const head = page.getByRole('columnheader', { name: /^Class/ });
  await head.getByRole('button').press('Enter');
  await head.and(page.locator('[aria-sort=ascending]')).waitFor();
  found.push(...(await breachesOf(page)));
  await page.context().close();
  return [...found, ...faults];
}
