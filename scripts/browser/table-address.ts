import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { settled, show, signIn } from './console-page.ts';

const checks = 'checks-of-the-decision';

function partOf(page: Page, name: string): string | null {
  return new URLSearchParams(new URL(page.url()).hash.split('?')[1]).get(name);
}

function region(page: Page) {
  return page.getByRole('region', { name: 'Decision' });
}

async function rowsOf(page: Page): Promise<string> {
  await region(page).locator('tbody tr').first().waitFor();
  return (await region(page).locator('tbody tr').allInnerTexts()).join('\n');
}

/** A sorted and filtered table is the same after a reload and in another page with the copied link. Back leads to the screen before. No server learns the text. */
export async function keepsView(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller');
  page.context().on('request', (request) => {
    if (/passed/i.test(request.url() + JSON.stringify(request.headers()))) found.push(request.url());
  });
  await show(page, url, 'members/p-1002');
  await page.goto(`${url}/console#/transfers/walk-2`);
  await settled(page);
  const before = await rowsOf(page);
  const sort = region(page).getByRole('button', { name: /^Check/ });
  await sort.click();
  await sort.click();
  await region(page).getByRole('searchbox').pressSequentially('PASSED lim');
  await page.waitForURL(() => partOf(page, `${checks}.filter`) === 'PASSED lim');
  if (partOf(page, `${checks}.sort`) !== '-check') found.push(`the order is not in ${page.url()}`);
  const shown = await rowsOf(page);
  if (shown === before) found.push('the table is not filtered');
  await page.reload();
  await settled(page);
  if ((await rowsOf(page)) !== shown) found.push('a reload shows other rows');
  const copy = await page.context().newPage();
  await copy.goto(page.url());
  await settled(copy);
  if ((await rowsOf(copy)) !== shown) found.push('the copied link shows other rows');
  const isDescending = await region(copy)
    .getByRole('columnheader', { name: /^Check/ })
    .getAttribute('aria-sort');
  if (isDescending !== 'descending') found.push('the copied link sorts otherwise');
  found.push(...(await breachesOf(copy)));
  await copy.close();
  // The third press and an empty field are the defaults, which no address has.
  await sort.click();
  await region(page).getByRole('searchbox').fill('');
  await page.waitForURL(`${url}/console#/transfers/walk-2`);
  if ((await rowsOf(page)) !== before) found.push('the defaults show other rows');
  await sort.click();
  await page.waitForURL(() => partOf(page, `${checks}.sort`) === 'check');
  await page.goBack();
  await page.waitForURL(`${url}/console#/members/p-1002`);
  await page.goForward();
  await page.waitForURL(() => partOf(page, `${checks}.sort`) === 'check');
  await settled(page);
  // The link of the sidebar is a new question: the order of another screen stays there.
  await page.getByRole('link', { name: 'Transfers', exact: true }).click();
  await page.waitForURL(`${url}/console#/transfers`);
  await page.context().close();
  return [...found, ...faults];
}

/** Columns that do not exist, broken escapes and markup show the rows as they come, or no row, and never an element of their own. */
export async function refusesWrongView(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller');
  await show(page, url, 'transfers/walk-2');
  const rows = await rowsOf(page);
  for (const part of [
    `${checks}.sort=no-such`,
    `${checks}.sort=--`,
    `${checks}.sort=%E0%A4%A`,
    '.=.&..sort=1',
    `${checks}.row=1`,
  ]) {
    await show(page, url, `transfers/walk-2?${part}`);
    if ((await rowsOf(page)) !== rows) found.push(`other rows for ${part}`);
  }
  const markup = '<img src=x onerror=document.title=1>';
  await show(page, url, `transfers/walk-2?${checks}.filter=${encodeURIComponent(markup)}`);
  await page.getByText('No row has this text.').waitFor();
  if ((await region(page).getByRole('searchbox').inputValue()) !== markup)
    found.push('the field has another text');
  if ((await page.locator('img').count()) > 0) found.push('the text became an element');
  await page.context().close();
  return [...found, ...faults];
}

/** The keys follow the rows in each order. The transfer that they selected is selected after a reload; one that waits no more leaves the first. */
export async function keepsSelection(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  await show(page, url, 'review');
  const selected = page.locator('button[aria-pressed=true]');
  const first = await selected.innerText();
  await page.keyboard.press('j');
  await page.waitForURL(() => partOf(page, 'transfers-that-wait.row') !== null);
  const second = await selected.innerText();
  if (second === first || partOf(page, 'transfers-that-wait.row') !== second)
    found.push('j selects another row');
  await page.reload();
  await settled(page);
  if ((await selected.innerText()) !== second) found.push('a reload selects another row');
  await page.keyboard.press('o');
  await page.waitForURL(`${url}/console#/transfers/${second}`);
  await page.goBack();
  await settled(page);
  if ((await selected.innerText()) !== second) found.push('Back selects another row');
  for (const presses of [1, 2, 3]) {
    await page.getByRole('columnheader', { name: 'Amount' }).getByRole('button').click();
    const rows = await page.locator('button.pick').allInnerTexts();
    await page.locator('button.pick').first().click();
    const walked = [await selected.innerText()];
    for (const key of [...rows.slice(1).fill('j'), 'j', 'k']) {
      await page.keyboard.press(key);
      walked.push(await selected.innerText());
    }
    const expected = [...rows, rows.at(-1), rows.at(-2)];
    if (walked.join() !== expected.join()) found.push(`j and k after ${presses} presses: ${walked.join()}`);
  }
  await show(page, url, 'review?transfers-that-wait.row=no-such');
  if ((await selected.innerText()) !== first) found.push('an unknown row does not lead to the first');
  await page.context().close();
  return [...found, ...faults];
}
