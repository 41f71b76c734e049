import type { Page } from 'playwright-core';
import { pressOn } from './browser.ts';

export async function signIn(page: Page, url: string, name: string, institution = 'harbor'): Promise<void> {
  await page.goto(`${url}/operations/sign-in?next=/console`);
  await page
    .locator(`form:has(input[value=${institution}])`)
    .getByRole('button', { name: `Continue as ${name}`, exact: true })
    .click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
}

export async function settled(page: Page): Promise<void> {
  await page.locator('h1').waitFor();
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'hidden' });
}

export async function show(page: Page, url: string, address: string): Promise<void> {
  await page.goto(`${url}/console#/${address}`);
  await page.reload();
  await settled(page);
}

/** An act without a mouse: its button, the reason, Enter. */
export async function actByKeyboard(page: Page, verb: string, reason: string): Promise<void> {
  await pressOn(page, ['button', new RegExp(`^${verb}$`)]);
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type(reason);
  await page.keyboard.press('Enter');
}
