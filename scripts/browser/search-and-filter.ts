import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { actByKeyboard, settled, show, signIn } from './console-page.ts';

/** By Ctrl K from any screen: a member by last name, by first name, by both and by number, an account by id, a transfer by id and by amount, a client, a break and an operator. */
export async function findsAnything(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller');
  for (const [text, link] of [
    ['Quayside', /Marina/],
    ['marina', /Marina/],
    ['Marina Quay', /Marina/],
    ['100002', /Marina/],
    ['a-1002-checking', 'a-1002-checking'],
    ['walk-1', 'walk-1'],
    ['105.25', 'walk-1'],
    ['harbor-app', /Harbor demo app/],
    ['a-1002-checking', /^Break 1/],
    ['second demo', /^Second demo approver/],
  ] as const) {
    await page.keyboard.press('Control+k');
    await page.keyboard.type(text);
    await page.keyboard.press('Enter');
    await page.waitForURL(({ hash }) => new URLSearchParams(hash.split('?')[1]).get('text') === text);
    await settled(page);
    await page.getByRole('main').getByRole('link', { name: link }).first().waitFor();
  }
  const breaches = await breachesOf(page);
  await page.context().close();
  return [...breaches, ...faults];
}

/** By the keyboard: from the first entry of an account, which no transfer made, to its posting with both sides, and back to the account. */
export async function showsBothSides(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [viewport, colorScheme] of [
    [sizes.desktop, 'light'],
    [sizes.phone, 'dark'],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport, colorScheme });
    await signIn(page, url, 'Demo viewer');
    await show(page, url, 'accounts/a-1002-checking');
    await page
      .getByRole('region', { name: 'Entries', exact: true })
      .getByRole('link', { name: '1', exact: true })
      .press('Enter');
    await page.waitForURL(({ hash }) => hash === '#/entries/a-1002-checking?entry=1');
    await page.getByRole('heading', { name: 'Posting' }).waitFor();
    const sides = page.getByRole('region', { name: 'Entries on both sides' });
    const rows = sides.locator('tbody tr');
    await rows.filter({ hasText: 'The institution' }).waitFor();
    if ((await rows.count()) !== 2) found.push(`${await rows.count()} sides`);
    found.push(...(await breachesOf(page)));
    await sides.getByRole('link', { name: 'a-1002-checking' }).press('Enter');
    await page.getByRole('heading', { name: 'Share Draft' }).waitFor();
    found.push(...faults);
    await page.context().close();
  }
  return found;
}

/** A table with many rows is filtered, and its file has the rows that are left; one with few rows has a file and no filter. */
export async function filtersTable(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller');
  await show(page, url, 'transfers/walk-2');
  const card = page.getByRole('region', { name: 'Decision' });
  const rows = card.locator('tbody tr');
  const all = await rows.count();
  await card.getByRole('searchbox', { name: 'Filter: Checks of the decision' }).fill('passed');
  await card.getByText(new RegExp(`^\\d+ of ${all} rows$`)).waitFor();
  const left = await rows.count();
  if (left === 0 || (await rows.filter({ hasText: 'Passed' }).count()) !== left)
    found.push(`${left} rows of ${all} are left`);
  const save = card.getByRole('button', { name: 'Save as CSV' });
  const [download] = await Promise.all([page.waitForEvent('download'), save.press('Enter')]);
  if (download.suggestedFilename() !== 'checks-walk-2.csv') found.push(download.suggestedFilename());
  const lines = (await readFile(await download.path(), 'utf8')).trimEnd().split('\r\n');
  if (lines.length !== left + 1) found.push(`the file has ${lines.length} lines`);
  await card.getByRole('searchbox').fill('no such words');
  await card.getByText('No row has this text.').waitFor();
  found.push(...(await breachesOf(page)));
  await show(page, url, 'members/p-1002');
  const accounts = page.getByRole('region', { name: 'Accounts and rights of this person' });
  await accounts.getByRole('button', { name: 'Save as CSV' }).waitFor();
  await page.context().close();
  return [...found, ...faults];
}

/** An administrator gives a client a second secret, ends the older one, and switches the client off and on, by the keyboard alone. */
export async function changesClient(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator');
  await pressOn(page, ['link', /^Clients$/]);
  await page.getByRole('heading', { name: 'Signing keys' }).waitFor();
  await settled(page);
  for (const [verb, words] of [
    ['New secret', /^The new secret of \S+ is \S+\. It is not shown again\.$/],
    ['End the older secret', /^The older secret of \S+ has ended\.$/],
    ['Switch off', /^\S+ is switched off\.$/],
    ['Switch on', /^\S+ is switched on\.$/],
  ] as const) {
    await actByKeyboard(page, verb, 'A walk of the console');
    await page.getByText(words).waitFor();
  }
  const breaches = await breachesOf(page);
  await page.context().close();
  return [...breaches, ...faults];
}
