import { readFile } from 'node:fs/promises';
import type { Browser } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';

/** The entries of an account with a year of history are saved as a whole, although the screen has read only the newest; a stop saves no file. */
export async function savesWholeList(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller', 'meadow');
  await show(page, url, 'accounts/a-1001-checking');
  const save = page.getByRole('button', { name: 'Save all as CSV' });
  const [download] = await Promise.all([page.waitForEvent('download'), save.press('Enter')]);
  const text = await readFile(await download.path(), 'utf8');
  await page.getByText(/^The file has all [\d,]+ rows\.$/).waitFor();
  found.push(...(await breachesOf(page)));
  const [titles, ...lines] = text.trimEnd().split('\r\n');
  if (titles !== 'Recorded,Entry,Kind,Transfer,Amount,Balance after') found.push(`titles: ${titles}`);
  if (lines.length <= 200) found.push(`only ${lines.length} rows`);
  const numbers = lines.map((line) => Number(line.split(',')[1]));
  if (!numbers.every((number, at) => number === lines.length - at)) found.push('an entry is missing');
  const zoned = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.\d]*-0[67]:00,/;
  found.push(...lines.filter((line) => !zoned.test(line)).slice(0, 1));
  // The next page never comes, so there is time to stop.
  await page.route(/entries\?.*after=/, () => {});
  await save.click();
  await page.getByText(/^Reading all rows: 200 of at most 20,000$/).waitFor();
  found.push(...(await breachesOf(page)));
  await page.getByRole('button', { name: 'Stop' }).click();
  await page.getByText('Stopped. No file was saved.').waitFor();
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await page.context().close();
  return [...found, ...faults];
}
