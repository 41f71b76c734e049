import type { Browser } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { actByKeyboard, order, show, signIn } from './console-page.ts';

/** A reversal that one approver proposed is confirmed by another from Review, by the keyboard alone. Other roles read it without a button. */
export async function confirmsProposal(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const status = await order(url, { id: 'confirm-1', amount: 3.25, toAccountId: 'a-1002-savings' });
  if (status !== 'COMPLETED') found.push(`the order is ${status}`);
  const first = await openPage(browser, { viewport: sizes.desktop });
  await signIn(first.page, url, 'Demo approver');
  await show(first.page, url, 'transfers/confirm-1');
  await actByKeyboard(first.page, 'Reverse', 'Sent twice');
  await first.page.getByText('Another person must decide the same.').waitFor();
  await show(first.page, url, 'review');
  const own = first.page.getByRole('listitem').filter({ hasText: 'confirm-1' });
  await own.getByText('waits for another person').waitFor();
  found.push(...first.faults);
  await first.page.context().close();
  for (const [size, viewport] of Object.entries(sizes)) {
    const viewer = await openPage(browser, { viewport, colorScheme: 'dark' });
    await signIn(viewer.page, url, 'Demo viewer');
    await show(viewer.page, url, 'review');
    const row = viewer.page.getByRole('listitem').filter({ hasText: 'confirm-1' });
    await row.getByText('Take $3.25 of confirm-1 back').waitFor();
    await row.getByText('“Sent twice”').waitFor();
    if ((await row.getByRole('button').count()) > 0) found.push('a viewer may confirm');
    found.push(...(await breachesOf(viewer.page)).map((breach) => `${size}: ${breach}`), ...viewer.faults);
    await viewer.page.context().close();
  }
  const second = await openPage(browser, { viewport: sizes.desktop });
  await signIn(second.page, url, 'Second demo approver');
  await show(second.page, url, 'review');
  await second.page.getByRole('button', { name: 'Confirm' }).waitFor();
  await actByKeyboard(second.page, 'Confirm', 'The member agrees');
  await second.page.getByText('It is confirmed and done.').waitFor();
  found.push(...(await breachesOf(second.page)), ...second.faults);
  await second.page.context().close();
  return found;
}
