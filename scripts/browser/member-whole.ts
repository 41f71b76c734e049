import type { Browser } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';

/** A member as a whole: the means of sign-in, the alerts and the last events, of which each transfer and, for an auditor, the audit is a link away. */
export async function showsWholeMember(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, mayReadAudit] of [
    ['Demo viewer', false],
    ['Demo auditor', true],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
    await signIn(page, url, name);
    await show(page, url, 'members/p-1002');
    for (const heading of ['Passkeys and authenticator app', 'Sessions', 'Alerts', 'Last events']) {
      await page.getByRole('heading', { name: heading, exact: true }).waitFor();
    }
    await page.getByText('None. The member signs in with a password alone.').waitFor();
    await page.getByText(/^The member has chosen nothing/).waitFor();
    // The orders of this walk came from a sign-in by password.
    await page
      .getByRole('row', { name: /Login .*Succeeded.*127\.0\.0\.1/ })
      .first()
      .waitFor();
    const links = await page.getByRole('link', { name: 'All in the audit' }).count();
    if (links !== (mayReadAudit ? 1 : 0)) found.push(`${name} sees ${links} links to the audit`);
    if (mayReadAudit) {
      await page.getByRole('link', { name: 'All in the audit' }).click();
      await page.getByRole('heading', { name: 'Audit', level: 1 }).waitFor();
      await page.getByRole('row', { name: /login/i }).first().waitFor();
    } else {
      await page.getByRole('link', { name: 'Transfers of this member' }).click();
      await page.getByRole('link', { name: 'walk-1' }).waitFor();
    }
    found.push(...(await breachesOf(page)), ...faults);
    await page.context().close();
  }
  return found;
}
