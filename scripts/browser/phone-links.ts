import type { Browser } from 'playwright-core';
import { openPage, sizes } from './browser.ts';
import { settled, show, signIn } from './console-page.ts';

/** On a phone the link of the screen lies inside the window: under a copied address, and after a link inside a screen leads on. */
export async function showsCurrentLink(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.phone, reducedMotion: 'reduce' });
  await signIn(page, url, 'Demo auditor');
  const current = page.getByRole('navigation', { name: 'Main' }).locator('[aria-current=page]');
  const check = async (name: string) => {
    await settled(page);
    const { x = -1, width = 0 } = (await current.boundingBox()) ?? {};
    if ((await current.textContent()) !== name) found.push(`the current link is not ${name}`);
    if (x < 0 || x + width > sizes.phone.width) found.push(`${name} is outside of the window`);
  };
  await show(page, url, 'institution');
  await check('Institution');
  await show(page, url, 'audit');
  await check('Audit');
  await page.goto(`${url}/console#/today`);
  await check('Today');
  await page.getByRole('link', { name: /^\d+ refused$/ }).click();
  await page.waitForURL(({ hash }) => hash.startsWith('#/audit'));
  await check('Audit');
  await page.context().close();
  return [...found, ...faults];
}
