import type { Browser } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

/**
 * By the keyboard alone an administrator changes settings, which stand in words before they are sent, and closes the institution on a day. A
 * viewer reads both, without an act.
 */
export async function changesInstitution(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator', 'lakeside');
  await show(page, url, 'institution');
  const found: string[] = [];
  if ((await page.getByText(/[{}]|"[a-z]+":/).count()) > 0) found.push('a value is raw JSON');

  await pressOn(page, ['button', 'Change Sign-in of members']);
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Reason').fill('A walk of the console');
  await page.keyboard.press('Enter');
  await dialog.getByText('Change at least one value.').waitFor();
  await dialog.getByLabel('Shortest password').fill('7');
  await page.keyboard.press('Enter');
  await dialog.getByText('Write a whole number from 8 to 128.').waitFor();
  await dialog.getByLabel('Shortest password').fill('16');
  await dialog.getByLabel('Recent sign-in for transfers').fill('300');
  await dialog.getByLabel('Recent sign-in: transfers above').fill('2,500.00');
  await dialog.getByText('15 characters → 16 characters').waitFor();
  await dialog.getByText('never needed → not older than 5 minutes').waitFor();
  await dialog.getByText('$0.00 → $2,500.00').waitFor();
  for (const viewport of [sizes.phone, sizes.desktop]) {
    await page.setViewportSize(viewport);
    found.push(...(await breachesOf(page)), ...(await layoutFaults(page)));
  }
  await page.keyboard.press('Enter');
  await page.getByText('Sign-in of members: the change is made.').waitFor();
  const card = page.getByRole('region', { name: 'Sign-in of members' });
  await card.getByText('16 characters').waitFor();
  await card.getByText('$2,500.00').waitFor();

  await pressOn(page, ['button', 'Change Institution']);
  await dialog.getByLabel('Time zone').fill('Mars/Olympus');
  await dialog.getByLabel('Reason').fill('A walk of the console');
  await page.keyboard.press('Enter');
  await dialog.getByRole('alert').waitFor();
  // The browser's console tells of the status 400.
  faults.splice(0);
  await page.keyboard.press('Escape');

  await pressOn(page, ['button', 'Open or close a day']);
  await dialog.getByLabel('Day').fill(`${new Date().getFullYear()}-12-23`);
  await dialog.getByLabel('Reason').fill('Stocktaking');
  await page.keyboard.press('Enter');
  await page
    .getByText(/December 23.*: (noted\. Another person must do the same|the change is made)\./)
    .waitFor();
  found.push(...faults);
  await page.context().close();

  const viewer = await openPage(browser, { viewport: sizes.phone, colorScheme: 'dark' });
  await signIn(viewer.page, url, 'Demo viewer', 'lakeside');
  await show(viewer.page, url, 'institution');
  await viewer.page.getByText('not older than 5 minutes').waitFor();
  const acts = await viewer.page
    .getByRole('button', { name: /Change|Open or close|End the exception/ })
    .count();
  if (acts > 0) found.push('a viewer sees acts on the institution');
  found.push(...(await breachesOf(viewer.page)), ...(await layoutFaults(viewer.page)), ...viewer.faults);
  await viewer.page.context().close();
  return found;
}
