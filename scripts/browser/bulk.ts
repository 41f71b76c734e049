import type { Browser } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { order, show, signIn } from './console-page.ts';

/** Several transfers are declined by the keyboard with one reason; one of them was decided by another person meanwhile. */
export async function decidesSeveral(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const colorScheme of ['light', 'dark'] as const) {
    const ids = [`bulk-${colorScheme}-1`, `bulk-${colorScheme}-2`] as const;
    for (const id of ids) found.push(await order(url, { id, amount: 501, toAccountId: 'a-1001-savings' }));
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop, colorScheme });
    await signIn(page, url, 'Demo approver');
    await show(page, url, 'review');
    for (const id of ids) {
      await page.getByRole('button', { name: id }).focus();
      await page.keyboard.press('Enter');
      await page.keyboard.press('x');
    }
    await page.getByText('2 chosen').waitFor();
    found.push(...(await breachesOf(page)));
    await page.keyboard.press('Shift+D');
    const dialog = page.getByRole('dialog', { name: 'Decline 2 transfers' });
    await dialog.getByText('$1,002.00').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('Write the reason.').waitFor();
    const other = await openPage(browser, { viewport: sizes.desktop });
    await signIn(other.page, url, 'Second demo approver');
    await show(other.page, url, `transfers/${ids[0]}`);
    await other.page.getByRole('button', { name: 'Decline' }).click();
    await other.page.getByLabel('Reason').fill('Decided before');
    await other.page.keyboard.press('Enter');
    await other.page.getByText('The transfer is failed.').waitFor();
    await other.page.context().close();
    await page.getByLabel('Reason for all of them').fill('Not known to the member');
    found.push(...(await breachesOf(page)));
    await page.keyboard.press('Enter');
    await dialog.getByText('2 of 2 sent.').waitFor();
    await dialog.getByText('The transfer is FAILED and not pending.').waitFor();
    await dialog.getByText('The transfer is failed.').waitFor();
    found.push(...(await breachesOf(page)));
    await dialog.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('button', { name: ids[1] }).waitFor({ state: 'detached' });
    // The browser itself reports the refusal.
    found.push(...faults.filter((fault) => !fault.includes('409')));
    await page.context().close();
  }
  return found.filter((one) => one !== 'PENDING');
}
