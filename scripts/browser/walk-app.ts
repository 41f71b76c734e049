// Walks the member's app in a real browser, against a demo of its own: node scripts/browser/walk-app.ts [--pictures]
//
// Every screen, light and dark, on a phone and on a desktop: no error in the console, no breach of a policy, no breach that axe-core finds. A
// transfer by clicks, and one by the keyboard alone whose response is lost. Attacks. With --pictures it also writes those of docs/pictures.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { attackApp } from './attack-app.ts';
import { breachesOf, openBrowser, openPage, pressOn, sizes, type WatchedPage } from './browser.ts';
import { layoutFaults } from './layout.ts';
import { journey, outcome, report } from './report.ts';
import { type DemoService, startDemo } from './service.ts';

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const screens = [
  ['accounts', 'Accounts'],
  ['accounts/a-1001-checking', /Everyday Checking/],
  ['transfer', 'Move money'],
  ['spending', 'Spending'],
  ['alerts', 'Alerts'],
  ['alerts/preferences', 'Choose alerts'],
  ['security', 'Security'],
] as const;
const lakeside = { clientId: 'demo-web', username: 'demo.member', password: 'demo-member-password' };
const meadow = { clientId: 'meadow-web', username: 'meadow.member', password: 'meadow-member-password' };

async function signIn(page: Page, url: string, who: typeof lakeside): Promise<void> {
  await page.goto(`${url}/app/${who.clientId}`);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByLabel('Username').fill(who.username);
  await page.getByLabel('Password').fill(who.password);
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('heading', { name: 'Accounts' }).waitFor();
  await page.getByText('available').first().waitFor();
}

/** The simulated core delivers its year of history after the start. */
async function historyArrived(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser);
  await signIn(page, url, meadow);
  const balance = page.getByRole('link', { name: /Everyday Checking/ }).locator('.amount');
  while ((await balance.innerText()) === '$0.00') {
    await page.reload();
    await page.getByText('available').first().waitFor();
  }
  await page.context().close();
}

async function settled(page: Page): Promise<void> {
  await page
    .getByText(/^Loading/)
    .first()
    .waitFor({ state: 'hidden' });
}

async function walk(browser: Browser, { url }: DemoService, takesPictures: boolean): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const [size, viewport] of Object.entries(sizes)) {
      const { page, faults, origins } = await openPage(browser, {
        viewport,
        colorScheme,
        reducedMotion: 'reduce',
      });
      await page.goto(`${url}/app/meadow-web`);
      await page.getByRole('button', { name: 'Sign in' }).waitFor();
      report(`${colorScheme} ${size}: welcome`, await breachesOf(page));
      await signIn(page, url, meadow);
      for (const [address, heading] of screens) {
        await page.goto(`${url}/app/meadow-web#/${address}`);
        await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
        await settled(page);
        report(`${colorScheme} ${size}: ${address}`, [
          ...(await breachesOf(page)),
          ...(await layoutFaults(page)),
        ]);
        if (takesPictures) await picture(page, { address, size, colorScheme });
      }
      await page.goto(`${url}/web/design`);
      await page.getByRole('heading', { name: 'Components' }).waitFor();
      report(`${colorScheme} ${size}: components`, await breachesOf(page));
      report(`${colorScheme} ${size}: console`, faults);
      report(
        `${colorScheme} ${size}: one origin`,
        // The pages of sign-in have the name that passkeys need.
        [...origins].filter((origin) => origin !== url && origin !== url.replace('127.0.0.1', 'localhost')),
      );
      await page.context().close();
    }
  }
}

/** The pictures of README and docs. */
async function picture(
  page: Page,
  { address, size, colorScheme }: { address: string; size: string; colorScheme: string },
): Promise<void> {
  const wanted = ['accounts', 'accounts/a-1001-checking', 'spending', 'transfer'];
  const isWanted = size === 'phone' ? wanted.includes(address) : address === 'accounts/a-1001-checking';
  if (!isWanted || (colorScheme === 'dark' && address !== 'accounts/a-1001-checking')) return;
  await mkdir(pictures, { recursive: true });
  const name = address.replace('accounts/a-1001-checking', 'account');
  await page.screenshot({ path: `${pictures}app-${name}-${size}-${colorScheme}.png` });
}

/** WCAG 1.4.4 and 1.4.10: text at 200 %, and a window of 320 pixels. */
async function reflow(browser: Browser, { url }: DemoService): Promise<void> {
  for (const [name, viewport] of [
    ['200 % zoom', { width: 640, height: 400 }],
    ['320 pixels', { width: 320, height: 568 }],
  ] as const) {
    const { page } = await openPage(browser, { viewport, deviceScaleFactor: 2 });
    await signIn(page, url, meadow);
    for (const [address, heading] of screens) {
      await page.goto(`${url}/app/meadow-web#/${address}`);
      await page.getByRole('heading', { name: heading, level: 1 }).waitFor();
      await settled(page);
      report(`${name}: ${address}`, [...(await breachesOf(page)), ...(await layoutFaults(page))]);
    }
    await page.context().close();
  }
}

async function balanceOf(page: Page, url: string, account: string): Promise<string> {
  await page.goto(`${url}/app/demo-web#/accounts`);
  await page.reload();
  return page.getByRole('link', { name: account }).locator('.amount').innerText();
}

/** A member's first transfer, by clicks. */
async function firstTransfer({ page, faults }: WatchedPage, url: string): Promise<string[]> {
  await signIn(page, url, lakeside);
  await page.getByRole('link', { name: /Share Draft/ }).click();
  await page.getByRole('link', { name: 'Move money' }).click();
  await page.getByLabel('To').selectOption({ label: 'Share Savings ··0100' });
  await page.getByLabel('Amount').fill('1,50');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('Write the amount in digits').waitFor();
  await page.getByLabel('Amount').fill('105.25');
  await page.getByLabel('Memo').fill('<b>First</b> transfer');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByText('It posts at once.').waitFor();
  const breaches = await breachesOf(page);
  await page.getByRole('button', { name: 'Move $105.25' }).click();
  await page.getByText('The transfer is complete.').waitFor();
  await page.getByRole('link', { name: 'Show the account' }).click();
  await page.getByText('<b>First</b> transfer').waitFor();
  const [from, to] = [await balanceOf(page, url, 'Share Draft'), await balanceOf(page, url, 'Share Savings')];
  const moved = from === '$48,145.50' && to === '$12,705.25' ? [] : [`the balances are ${from} and ${to}`];
  return [...breaches, ...faults, ...moved];
}

/** The institution wants a recent sign-in for each transfer: the member signs in again, and the order is still there. */
async function signInForTransfer({ page, faults }: WatchedPage, demo: DemoService): Promise<string[]> {
  const { url } = demo;
  const demand = (seconds: string) =>
    demo.run('institution', 'settings', 'lakeside', '--transfer-step-up-max-age', seconds);
  await demand('1');
  await page.goto(`${url}/app/demo-web#/transfer`);
  await page.reload();
  await page.getByLabel('To').selectOption({ label: 'Share Savings ··0100' });
  await page.getByLabel('Amount').fill('2.00');
  await page.getByRole('button', { name: 'Review' }).click();
  await page.getByRole('button', { name: 'Move $2.00' }).click();
  await page.getByText('For this transfer, sign in again.').waitFor();
  const breaches = await breachesOf(page);
  // The browser's console tells of the status 401.
  faults.splice(0);
  await demand('300');
  await page.getByRole('button', { name: 'Sign in again' }).click();
  await page.getByLabel('Username').fill('demo.member');
  await page.getByLabel('Password').fill('demo-member-password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  await page.getByRole('button', { name: 'Move $2.00' }).click();
  await page.getByText('The transfer is complete.').waitFor();
  await demand('0');
  return [...breaches, ...faults];
}

/** Only the keyboard. The response of the first try is lost, and the second try moves no more money. */
async function lostResponse({ page }: WatchedPage, url: string): Promise<string[]> {
  await page.goto(`${url}/app/demo-web#/transfer`);
  await page.reload();
  await pressOn(page, ['combobox', 'From'], 'Tab');
  const to = page.getByLabel('To');
  await to.locator('option', { hasText: 'Share Savings' }).waitFor({ state: 'attached' });
  await page.keyboard.type('Sha');
  await pressOn(page, ['textbox', 'Amount'], '1');
  await page.keyboard.type('0');
  await page.keyboard.press('Enter');
  let lost = 0;
  await page.route('**/db-transfers/v1/transfers', async (route) => {
    await route.fetch();
    lost += 1;
    await route.abort();
  });
  await pressOn(page, ['button', /^Move \$10.00/]);
  await page.getByText('it moves the money once').waitFor({ timeout: 30_000 });
  await page.unroute('**/db-transfers/v1/transfers');
  await pressOn(page, ['button', /^Move \$10.00/]);
  await page.getByText('The transfer is complete.').waitFor();
  const from = await balanceOf(page, url, 'Share Draft');
  return from === '$48,135.50' && lost > 0 ? [] : [`the balance is ${from} after ${lost} lost responses`];
}

/** Choices of alerts are kept, and a wrong threshold is explained beside its field. */
async function chooseAlerts({ page }: WatchedPage, url: string): Promise<string[]> {
  await page.goto(`${url}/app/demo-web#/alerts/preferences`);
  const account = page.getByLabel('Account', { exact: true });
  await account.selectOption({ label: 'Share Savings ··0100' });
  await page.getByLabel('The balance falls low').check();
  await page.getByLabel('Below').fill('much');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Write an amount').waitFor();
  await page.getByLabel('Below').fill('250.00');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Your choices are saved.').waitFor();
  await page.reload();
  await account.selectOption({ label: 'Share Savings ··0100' });
  const kept = await page.getByLabel('Below').inputValue();
  return kept === '250.00' ? [] : [`the threshold is ${kept}`];
}

/** Without a network the app opens and shows no balance; no response of an API is kept. */
async function offline({ page }: WatchedPage, url: string): Promise<string[]> {
  await page.goto(`${url}/app/demo-web#/accounts`);
  await page.evaluate('navigator.serviceWorker.ready');
  await page.reload();
  await page.getByText('available').first().waitFor();
  const kept = (await page.evaluate(
    `caches.keys().then((names) => Promise.all(names.map((name) => caches.open(name).then((cache) => cache.keys()))))
      .then((lists) => lists.flat().map(({ url }) => new URL(url).pathname + new URL(url).search))`,
  )) as string[];
  await page.context().setOffline(true);
  await page.reload();
  await page.getByText('The institution cannot be reached.').waitFor();
  const shown = await page.getByText('$').count();
  await page.context().setOffline(false);
  return [
    ...kept
      .filter((path) => !path.startsWith('/web/') && path !== '/app/demo-web')
      .map((path) => `kept: ${path}`),
    ...(kept.length > 20 ? [] : ['the shell is not kept']),
    ...(shown === 0 ? [] : ['an amount shows without a network']),
  ];
}

/** After sign-out neither the back button nor a reload shows an account, and the token has ended. */
async function signOut({ page }: WatchedPage, url: string): Promise<string[]> {
  let token = '';
  page.on('request', (request) => {
    token = request.headers().authorization ?? token;
  });
  await page.goto(`${url}/app/demo-web#/security`);
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const { status } = await fetch(`${url}/digitalbanking/db-accounts/v1/accounts`, {
    headers: { authorization: token },
  });
  await page.goBack().catch(() => null);
  await page.reload();
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  return status === 401 ? [] : [`the token gets ${status} after sign-out`];
}

/** The first view with an empty cache, on a processor four times slower. */
async function firstView(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.phone });
  await signIn(page, url, lakeside);
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.clearBrowserCache');
  await session.send('Network.setBypassServiceWorker', { bypass: true });
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const started = performance.now();
  await page.reload();
  await page.getByText('available').first().waitFor();
  const millis = Math.round(performance.now() - started);
  process.stdout.write(
    `     first view: ${millis} ms at 4x slow-down, ${Math.round(bytes / 1024)} KB transferred\n`,
  );
  await page.context().close();
  return bytes < 100 * 1024 ? [] : [`${bytes} bytes are transferred for the first view`];
}

const browser = await openBrowser();
if (browser !== undefined) {
  await using demo = await startDemo();
  const { url } = demo;
  await historyArrived(browser, url);
  await walk(browser, demo, process.argv.includes('--pictures'));
  await reflow(browser, demo);
  const member = await openPage(browser, { viewport: sizes.phone });
  await journey('a first transfer by clicks', () => firstTransfer(member, url));
  await journey('a transfer by keyboard, whose response is lost', () => lostResponse(member, url));
  await journey('a transfer that needs a sign-in', () => signInForTransfer(member, demo));
  await journey('a choice of alerts', () => chooseAlerts(member, url));
  await journey('without a network', () => offline(member, url));
  for (const [name, attack] of attackApp(browser, member, url)) await journey(name, attack);
  await journey('sign-out', () => signOut(member, url));
  await journey('first view', () => firstView(browser, url));
  await browser.close();
  process.exitCode = outcome();
}
