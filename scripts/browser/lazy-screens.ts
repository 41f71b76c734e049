import type { Browser } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { settled, signIn } from './console-page.ts';

/** A screen's module comes when a person is about to open it, and one that cannot be fetched is told, with a way out. */
export async function loadsScreens(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(new URL(request.url()).pathname));
  await signIn(page, url, 'Demo approver');
  await settled(page);
  const isAsked = (name: string) => asked.some((address) => address.endsWith(name));
  const found = isAsked('/screens/ledger/ledger.ts') ? ['the ledger loads before it is opened'] : [];
  const hovered = page.waitForRequest(/\/screens\/ledger\/ledger\.ts$/);
  await page.getByRole('link', { name: 'Ledger', exact: true }).hover();
  await hovered;
  await page.route(/\/screens\/review\/review\.ts$/, (route) => route.abort());
  await page.getByRole('link', { name: 'Review', exact: true }).click();
  await page.getByRole('heading', { name: 'This screen could not be loaded', level: 1 }).waitFor();
  found.push(...(await breachesOf(page)));
  await page.unroute(/\/screens\/review\/review\.ts$/);
  await page.getByRole('button', { name: 'Load the page again' }).click();
  await page.getByRole('heading', { name: 'Review', level: 1 }).waitFor();
  await page.context().close();
  // The browser itself reports the module that did not come.
  return [...found, ...faults.filter((fault) => !/ERR_FAILED|Failed to fetch/.test(fault))];
}
