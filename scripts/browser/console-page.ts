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

type Order = Readonly<Record<string, unknown>>;

/** Orders a transfer as a member of harbor, through the public API. */
export async function order(url: string, transfer: Order): Promise<string> {
  const [status = ''] = await orderMany(url, [transfer]);
  return status;
}

/** One after the other, with one sign-in. */
export async function orderMany(url: string, transfers: readonly Order[]): Promise<string[]> {
  const credentials = { client_id: 'harbor-app', client_secret: 'harbor-app-secret', grant_type: 'password' };
  const member = { username: 'pebble.primary', password: 'marina-quay-lantern-1' };
  const issued = await fetch(`${url}/auth/v2/token`, {
    method: 'POST',
    body: new URLSearchParams({ ...credentials, ...member }),
  });
  const { access_token } = (await issued.json()) as { access_token: string };
  const statuses: string[] = [];
  for (const transfer of transfers) {
    const response = await fetch(`${url}/digitalbanking/db-transfers/v1/transfers`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${access_token}`,
        'content-type': 'application/json',
        'x-request-id': `request-of-${transfer.id}`,
      },
      body: JSON.stringify({ fromAccountId: 'a-1002-checking', ...transfer }),
    });
    statuses.push(((await response.json()) as { status: string }).status);
  }
  return statuses;
}
