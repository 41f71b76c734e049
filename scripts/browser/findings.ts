import type { Browser } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { settled, show, signIn } from './console-page.ts';

/** By the keyboard alone: from the figure of Today to its run, to the findings of a kind, and to the entry that one of them names. */
export async function leadsToFinding(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo viewer');
  await show(page, url, 'today');
  const figure = page.getByRole('region', { name: 'Reconcile: findings' }).getByRole('link').first();
  await figure.press('Enter');
  await page.getByRole('heading', { name: 'Run 1', level: 1 }).waitFor();
  await page.getByText('Correct the clock of the process').waitFor();
  const found = await breachesOf(page);
  await pressOn(page, ['link', /^Ahead of clock: \d+$/]);
  await page.waitForURL(({ hash }) => hash === '#/reconcile/1?kind=ahead-of-clock');
  await page.getByRole('heading', { name: 'Findings: Ahead of clock' }).waitFor();
  await pressOn(page, ['link', /^a-1002-checking$/]);
  await page.getByRole('heading', { name: 'Posting', level: 1 }).waitFor();
  await show(page, url, 'reconcile');
  await pressOn(page, ['combobox', 'Runs'], 'ArrowDown');
  await page.waitForURL(({ hash }) => hash === '#/reconcile?show=findings');
  await page.getByRole('cell', { name: 'Every row' }).waitFor();
  found.push(...(await breachesOf(page)), ...faults);
  await page.context().close();
  const other = await openPage(browser, { viewport: sizes.phone, colorScheme: 'dark' });
  await signIn(other.page, url, 'Demo administrator');
  await show(other.page, url, 'reconcile/1');
  await settled(other.page);
  await other.page.getByText('Correct the clock of the process').waitFor();
  if ((await other.page.getByText('a-1002-checking').count()) > 0)
    found.push('an administrator sees an account of a finding');
  await other.page.context().close();
  return [...found, ...other.faults];
}
