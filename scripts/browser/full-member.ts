import type { Browser, Page } from 'playwright-core';
import { codeOf, stepAt } from '../../src/auth/second-factor/totp.ts';
import { addAuthenticator, secretIn } from './authenticator.ts';
import { breachesOf, openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

/** The names that a member, an app and a browser choose. */
export interface ChosenNames {
  readonly passkey: string;
  readonly authenticator: string;
  readonly userAgent: string;
  readonly memo: string;
}

const plain: ChosenNames = {
  passkey: 'Blue phone',
  authenticator: 'Green app',
  userAgent: 'Mozilla/5.0 (X11; Linux x86_64; rv:142.0) Gecko/20100101 Firefox/142.0',
  memo: 'Boat repair',
};
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';

/** A token of demo.member, who has no second step yet. */
async function tokenOfMember(url: string): Promise<string> {
  const form = {
    ...{ grant_type: 'password', client_id: 'demo-app', client_secret: 'demo-app-secret' },
    ...{ username: 'demo.member', password: 'demo-member-password' },
  };
  const response = await fetch(`${url}/auth/v2/token`, { method: 'POST', body: new URLSearchParams(form) });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function send(url: string, method: string, path: string, token: string, body: object): Promise<void> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  const init = { method, headers, body: JSON.stringify(body) };
  const response = await fetch(`${url}/digitalbanking/${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
}

/** Alerts about two accounts, and transfers that send some. */
async function chooseAlerts(url: string, memo: string): Promise<void> {
  const token = await tokenOfMember(url);
  const channels = ['INBOX', 'EMAIL'];
  await send(url, 'PUT', 'db-alerts/v1/preferences', token, {
    alerts: [
      { alertType: 'LOW_BALANCE', accountId: 'a-1001-checking', threshold: 999999.5, channels },
      { alertType: 'TRANSFER_COMPLETE', accountId: 'a-1001-checking', channels },
    ],
    quietHours: { from: '02:00', to: '02:01' },
  });
  for (const id of ['full-1', 'full-2'])
    await send(url, 'POST', 'db-transfers/v1/transfers', token, {
      ...{ id, amount: 12.5, memo, fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' },
    });
}

async function signInByPassword(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('demo.member');
  await page.getByLabel('Password').fill('demo-member-password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

/** Gives demo.member of lakeside one of everything that a member can have, by the service's own pages. */
export async function fillMember(browser: Browser, url: string, names: ChosenNames = plain): Promise<void> {
  await chooseAlerts(url, names.memo);
  const { page } = await openPage(browser, { viewport: sizes.desktop, userAgent: names.userAgent });
  await page.goto(
    `${url}/auth/v2/authorize?${new URLSearchParams({
      ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: `${url}/`, state: 's' },
      ...{ scope: 'openid profile account:read', prompt: 'login consent', code_challenge_method: 'S256' },
      code_challenge: challenge,
    })}`,
  );
  await addAuthenticator(page);
  await signInByPassword(page);
  await page.getByLabel('Share Draft').check();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(/[?&]code=/);
  await page.goto(`${url}/auth/v2/security?client_id=demo-budget`);
  await page.getByLabel('Name of the new passkey').fill(names.passkey);
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey was added').waitFor();
  await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
  const href = await page.getByRole('link', { name: 'Open the app' }).getAttribute('href');
  await page.getByLabel('Code of the app').fill(codeOf(secretIn(href ?? ''), stepAt(new Date())));
  await page.getByLabel('Name', { exact: true }).fill(names.authenticator);
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  await page.context().close();
}

/** A member with one of everything, in each look, for roles with and without acts. */
export async function showsFullMember(browser: Browser, url: string): Promise<string[]> {
  await fillMember(browser, url);
  const found: string[] = [];
  for (const name of ['Demo teller', 'Demo viewer']) {
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop, reducedMotion: 'reduce' });
    await signIn(page, url, name, 'lakeside');
    await show(page, url, 'members/p-1001');
    await page.getByRole('row', { name: /Blue phone Passkey, on / }).waitFor();
    await page.getByRole('row', { name: /Green app Authenticator app, \d+ recovery codes left/ }).waitFor();
    // One of the sessions, and one of the known devices.
    await page.getByRole('row', { name: /Firefox on Linux 127\.0\.0\.1/ }).waitFor();
    await page.getByRole('row', { name: /Firefox on Linux Demo Budget/ }).waitFor();
    await page
      .getByRole('row', { name: /Demo Budget/ })
      .first()
      .waitFor();
    await page
      .getByRole('row', { name: /Low balance a-1001-checking \$999,999\.50 inbox, e-mail/ })
      .waitFor();
    // An alert goes out a moment after its transfer.
    const sent = page.getByRole('row', { name: /Transfer complete a-1001-checking full-/ }).first();
    for (let tries = 0; (await sent.count()) === 0 && tries < 40; tries += 1)
      await show(page, url, 'members/p-1001');
    if ((await sent.count()) === 0) found.push(`${name}: no alert of a transfer is shown`);
    for (const viewport of [sizes.desktop, sizes.phone, { width: 320, height: 568 }])
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const look = [...(await breachesOf(page)), ...(await layoutFaults(page))];
        found.push(...look.map((fault) => `${name} ${colorScheme} ${viewport.width}: ${fault}`));
      }
    const removal = await page.getByRole('button', { name: 'Remove authenticator' }).count();
    if (removal !== (name === 'Demo teller' ? 1 : 0))
      found.push(`${name} has ${removal} acts on the authenticator`);
    found.push(...faults);
    await page.context().close();
  }
  return found;
}
