import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { actByKeyboard, settled, show, signIn } from './console-page.ts';

export interface Hook extends AsyncDisposable {
  readonly address: string;
  /** The `webhook-id` of each request, in their order. */
  readonly ids: readonly string[];
}

/** A receiver on this machine, as the webhook of lakeside's client, and two transfers that it is sent. */
export async function startHook(url: string): Promise<Hook> {
  const ids: string[] = [];
  const server = createServer((request, response) => {
    ids.push(String(request.headers['webhook-id']));
    request.resume().on('end', () => response.writeHead(204).end());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
  const application = tokenOf(url, { grant_type: 'client_credentials' });
  await send(url, { path: 'db-webhooks/v1/endpoints', token: await application, body: { url: address } });
  const credentials = { username: 'demo.member', password: 'demo-member-password' };
  const token = await tokenOf(url, { grant_type: 'password', ...credentials });
  for (const id of ['hook-1', 'hook-2']) {
    const accounts = { fromAccountId: 'a-1001-checking', toAccountId: 'a-1001-savings' };
    await send(url, { path: 'db-transfers/v1/transfers', token, body: { id, amount: 5, ...accounts } });
  }
  const end = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { address, ids, [Symbol.asyncDispose]: end };
}

async function tokenOf(url: string, grant: Readonly<Record<string, string>>): Promise<string> {
  const body = new URLSearchParams({ client_id: 'demo-app', client_secret: 'demo-app-secret', ...grant });
  const response = await fetch(`${url}/auth/v2/token`, { method: 'POST', body });
  return ((await response.json()) as { access_token: string }).access_token;
}

async function send(
  url: string,
  { path, token, body }: { readonly path: string; readonly token: string; readonly body: object },
): Promise<void> {
  const response = await fetch(`${url}/digitalbanking/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(await response.text());
}

/** An administrator sends one event again by the keyboard alone, and then those of the last day. */
export async function replayed(browser: Browser, url: string, hook: Hook): Promise<string[]> {
  const found: string[] = [];
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator', 'lakeside');
  await pressOn(page, ['link', /^Webhooks$/]);
  await pressOn(page, ['link', hook.address]);
  await page.getByRole('heading', { name: 'Webhook', level: 1, exact: true }).waitFor();
  await settled(page);
  found.push(...(await breachesOf(page)));
  const row = page.getByRole('row', { name: /Send again/ }).first();
  const [id = ''] = /\d+-\d+-\d+/.exec((await row.textContent()) ?? '') ?? [];
  await actByKeyboard(page, 'Send again', 'The receiver lost it');
  await page.getByText('One event is sent again.').waitFor();
  await until(() => hook.ids.filter((one) => one === id).length === 2, `event ${id} did not arrive again`);
  const before = hook.ids.length;
  await actByKeyboard(page, 'Replay the last day', 'The receiver lost its disk');
  await page.getByText(/\d+ events are sent again/).waitFor();
  await until(() => hook.ids.length > before + 1, 'the events of the day did not arrive again');
  found.push(...faults);
  await page.context().close();
  const viewer = await openPage(browser, { viewport: sizes.phone, colorScheme: 'dark' });
  await signIn(viewer.page, url, 'Demo viewer', 'lakeside');
  await show(viewer.page, url, 'webhooks');
  await viewer.page.getByRole('link', { name: hook.address }).click();
  await viewer.page.getByRole('heading', { name: 'Attempts', exact: true }).waitFor();
  await settled(viewer.page);
  found.push(...(await breachesOf(viewer.page)), ...viewer.faults);
  if ((await viewer.page.getByRole('button', { name: /^(Send again|Pause|Replay)/ }).count()) > 0)
    found.push('a viewer sees acts');
  await show(viewer.page, url, 'transfers/hook-1');
  await viewer.page.getByRole('row', { name: /^Available funds Passed available .* Stored$/ }).waitFor();
  await viewer.page
    .getByRole('row', { name: new RegExp(`transfer.completed.*${hook.address}.*Delivered`) })
    .waitFor();
  found.push(...(await breachesOf(viewer.page)));
  await viewer.page.context().close();
  return found;
}

const patienceMillis = 20_000;

async function until(isTrue: () => boolean, failure: string): Promise<void> {
  const deadline = Date.now() + patienceMillis;
  while (!isTrue()) {
    if (Date.now() > deadline) throw new Error(failure);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
