import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';

/** A page that nobody touches tells two minutes before its session ends, stays by a key, and leaves at the end. */
export async function tellsOfTheEnd(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    const { page, faults } = await openPage(browser, { viewport });
    await signIn(page, url, 'Demo viewer');
    const notice = page.getByText(/you are signed out at/);
    const left = { idleInSeconds: 100 };
    await page.route(/\/operations\/v1\/session$/, async (route) => {
      const response = await route.fetch();
      if (left.idleInSeconds < 0) return route.fulfill({ status: 401, json: { code: 'invalid_token' } });
      return route.fulfill({ response, json: { ...(await response.json()), ...left } });
    });
    await page.reload();
    await notice.waitFor();
    found.push(...(await breachesOf(page)).map((breach) => `${size}: ${breach}`));
    left.idleInSeconds = 1_800;
    await page.keyboard.press('Shift');
    await notice.waitFor({ state: 'detached' });
    left.idleInSeconds = 3;
    await page.reload();
    await notice.waitFor();
    left.idleInSeconds = -1;
    await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
    // The browser itself reports the refusal.
    found.push(...faults.filter((fault) => !fault.includes('401')));
    await page.context().close();
  }
  return [...found, ...(await asksUnattended(browser, url))];
}

/** A page without a stream asks every ten seconds: after a minute without a key its requests are no use of the session. */
async function asksUnattended(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await page.clock.install();
  await page.route(/\/today\/stream/, (route) => route.abort());
  await signIn(page, url, 'Demo viewer');
  const next = () => page.waitForRequest(/\/operations\/v1\/today$/);
  const headerOf = async (request: ReturnType<typeof next>) =>
    (await (await request).allHeaders())['sharedraft-unattended'];
  const asked = next();
  await page.clock.runFor(5_000);
  const attended = await headerOf(asked);
  await page.clock.fastForward(90_000);
  const askedAlone = next();
  await page.clock.runFor(20_000);
  const alone = await headerOf(askedAlone);
  await page.context().close();
  return attended === undefined && alone === '1' ? [] : [`the page says ${attended}, and alone ${alone}`];
}

/** The stream tells a page of it within two seconds; a page without one is refused at the next click. */
export async function losesRole(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openTeller(browser, url);
  const alone = await openTeller(browser, url, { hasStream: false });
  const administrator = await openPage(browser, { viewport: sizes.desktop });
  await signIn(administrator.page, url, 'Demo administrator');
  await changeRoles(administrator.page, 'Demo teller', ['viewer']);
  await page.getByRole('button', { name: 'Lock', exact: true }).waitFor({ state: 'detached' });
  await lock(alone.page);
  await alone.page.getByText(/This needs the role teller/).waitFor();
  const found = await breachesOf(alone.page);
  await changeRoles(administrator.page, 'Demo teller', ['teller']);
  await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
  for (const one of [page, alone.page, administrator.page]) await one.context().close();
  return found;
}

/** An operator who is suspended while a page is open. */
export async function suspended(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openTeller(browser, url);
  const alone = await openTeller(browser, url, { hasStream: false });
  const administrator = await openPage(browser, { viewport: sizes.desktop });
  await signIn(administrator.page, url, 'Demo administrator');
  await show(administrator.page, url, 'operators');
  const row = administrator.page.getByRole('row', { name: /^Demo teller/ });
  await row.getByRole('button', { name: 'Suspend' }).click();
  await administrator.page.getByLabel('Reason').fill('Left the institution');
  await administrator.page.getByRole('dialog').getByRole('button', { name: 'Suspend' }).click();
  await row.getByText('Suspended').waitFor();
  await page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  await lock(alone.page);
  await alone.page.getByRole('heading', { name: 'Sign in to the console' }).waitFor();
  for (const one of [page, alone.page, administrator.page]) await one.context().close();
  return [];
}

async function openTeller(browser: Browser, url: string, { hasStream } = { hasStream: true }) {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  if (!hasStream) await page.route(/\/today\/stream/, (route) => route.abort());
  await signIn(page, url, 'Demo teller');
  await show(page, url, 'members/p-1002');
  await page.getByRole('button', { name: 'Lock', exact: true }).waitFor();
  return { page };
}

async function lock(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Lock', exact: true }).click();
  await page.getByLabel('Reason').fill('The member called');
  await page.getByRole('dialog').getByRole('button', { name: 'Lock' }).click();
}

/** As the administrator who is signed in at the page. */
async function changeRoles(page: Page, name: string, roles: readonly string[]): Promise<void> {
  await page.evaluate(`(async () => {
    const operators = await (await fetch('/operations/v1/operators')).json();
    const { operatorId } = operators.find(({ name }) => name === ${JSON.stringify(name)});
    const { ok } = await fetch('/operations/v1/operators/' + operatorId, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ roles: ${JSON.stringify(roles)}, reason: 'moves on' }),
    });
    if (!ok) throw new Error('the roles did not change');
  })()`);
}
