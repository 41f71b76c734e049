import { generateKeyPairSync } from 'node:crypto';
import type { Browser, Page } from 'playwright-core';
import { openPage, sizes } from './browser.ts';
import { show, signIn } from './console-page.ts';
import { fillMember } from './full-member.ts';
import { otherOrigin } from './other-origin.ts';
import { type DemoService, startDemo } from './service.ts';
import { screens } from './walk-roles.ts';

const hostile = `"><img src=x onerror="self.taken=1"><script>self.taken=1</script>`;
/** For fields of 64 characters, and without a space for addresses. */
const short = '"><img/src=x/onerror=self.taken=1>';

/** Texts whose form the console relies on; nobody but the service writes them. */
const fixed =
  /^(amount|maxAmount|expected|found|threshold|opening.*|transferStepUpAbove|currencyCode|currency|status|kind|outcome|rights|balance.*|debits|credits|difference|holds.*|(debits|credits)Pending.*|headroom|used|remaining|timeZone|since|day)$|At$|Since$|Until$|^at$|^before$/;

async function faultsOf(page: Page, place: string): Promise<string[]> {
  const found: string[] = [];
  if (await page.evaluate('self.taken')) found.push(`${place}: a script ran`);
  const made = page.locator('img, main script, dialog script, script:not([src]):not([type=importmap])');
  if ((await made.count()) > 0) found.push(`${place}: an element was made`);
  return found;
}

/** Replaces each text of each response, as any of them might once be written by somebody else. */
export async function hostileTexts(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, institution, addresses] of [
    ['Demo approver', 'harbor', screens.map(([address]) => address).filter((address) => address !== 'audit')],
    [
      'Demo auditor',
      'lakeside',
      ['members/p-1001', 'accounts/a-1001-checking', 'webhooks', 'audit', 'institution'],
    ],
    ['Demo administrator', 'lakeside', ['clients', 'operators', 'institution']],
  ] as const) {
    const { page } = await openPage(browser, { viewport: sizes.desktop });
    await signIn(page, url, name, institution);
    // Without the stream the page asks, and gets the texts below.
    await page.route(/\/today\/stream/, (route) => route.abort());
    await page.route(/\/operations\/v1\/(?!today\/stream)/, async (route) => {
      const response = await route.fetch();
      const replaced = JSON.parse(await response.text(), function (key, value) {
        const isRight = Array.isArray(this) && this.every((one) => /^[a-z]+:[a-z]+$/.test(one));
        return typeof value === 'string' && key !== '' && !fixed.test(key) && !isRight ? hostile : value;
      });
      await route.fulfill({ response, body: JSON.stringify(replaced) });
    });
    for (const address of addresses) {
      await show(page, url, address);
      await page
        .getByText(/onerror/)
        .first()
        .waitFor();
      found.push(...(await faultsOf(page, `${name}: ${address}`)));
    }
    await page.context().close();
  }
  return found;
}

/** Screens that show no text of a member or an app, only the name of the institution above. */
const withoutTexts = /^(today|transfers|search.*)$/;

type Send = (method: string, path: string, body: object) => Promise<void>;

/** The operations of an operator of lakeside, as the buttons of the demo sign in. */
async function operator(url: string, name: string): Promise<Send> {
  const post = (path: string, body: object, headers = {}) =>
    request(url, `/operations/v1${path}`, 'POST', headers, body);
  const { token } = (await post('/demo-session', { institution: 'lakeside', name })) as { token: string };
  return async (method, path, body) => {
    await request(url, `/operations/v1${path}`, method, { authorization: `Bearer ${token}` }, body);
  };
}

async function request(
  url: string,
  path: string,
  method: string,
  headers: object,
  body: object,
): Promise<unknown> {
  const init = {
    method,
    headers: { ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  };
  const response = await fetch(`${url}${path}`, init);
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json();
}

/** Script in each field that a member, an app or an operator can write, by the service's own doors. */
async function store({ url, run }: DemoService, browser: Browser): Promise<void> {
  await fillMember(browser, url, {
    passkey: short,
    authenticator: `a${short}`,
    userAgent: `${hostile} Firefox/142.0 (X11; Linux)`,
    memo: hostile,
  });
  const form = { grant_type: 'client_credentials', client_id: 'demo-app', client_secret: 'demo-app-secret' };
  const issued = await fetch(`${url}/auth/v2/token`, { method: 'POST', body: new URLSearchParams(form) });
  const { access_token: token } = (await issued.json()) as { access_token: string };
  const authorization = { authorization: `Bearer ${token}` };
  const webhook = { url: `http://127.0.0.1:9/?${short}`, description: hostile };
  await request(url, '/digitalbanking/db-webhooks/v1/endpoints', 'POST', authorization, webhook);
  await run('screening', 'set', '--institution', 'lakeside', '--url', `https://fraud.bank.example/?${short}`);
  const key = { ...generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' }), kid: short };
  const reason = hostile;
  const administrator = await operator(url, 'Demo administrator');
  await administrator('PATCH', '/clients/demo-budget', { name: hostile, reason });
  await administrator('PATCH', '/institution', { name: hostile, reason });
  await administrator('POST', '/operators', {
    name: hostile,
    email: 'a@bank.example',
    roles: ['viewer'],
    reason,
  });
  await administrator('POST', '/providers', {
    ...{ providerId: 'hostile', kind: 'jwt', issuer: short, audience: `b${short}`, subjectFrom: `c${short}` },
    ...{ keys: JSON.stringify({ keys: [key] }), userIdType: 'LOGIN_ID', scopes: ['account:read'], reason },
  });
  const teller = await operator(url, 'Demo teller');
  await teller('POST', '/users/u-demo-member/lock', { reason });
  await teller('POST', '/users/u-demo-member/unlock', { reason });
}

/** In a demo of its own: script that the service has stored is text on each screen, in each form, and on the pages of sign-in. */
export async function storedTexts(browser: Browser): Promise<string[]> {
  await using demo = await startDemo();
  const { url } = demo;
  await store(demo, browser);
  const found: string[] = [];
  for (const [name, addresses] of [
    [
      'Demo auditor',
      [
        'today',
        'members/p-1001',
        'transfers/full-1',
        'transfers',
        'search?text=12.50',
        'audit',
        'webhooks',
        'institution',
      ],
    ],
    ['Demo administrator', ['clients', 'operators', 'institution', 'audit']],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop, userAgent: hostile });
    await signIn(page, url, name, 'lakeside');
    for (const address of addresses) {
      await show(page, url, address);
      const texts = await page.getByText(/onerror/).count();
      // The name of the institution stands above each screen.
      if (texts < (withoutTexts.test(address) ? 1 : 2))
        found.push(`${name}: ${address}: the text does not show`);
      found.push(...(await faultsOf(page, `${name}: ${address}`)));
    }
    await show(page, url, 'webhooks');
    await page
      .getByRole('main')
      .getByRole('link', { name: /onerror/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Webhook', level: 1, exact: true }).waitFor();
    found.push(...(await faultsOf(page, `${name}: a webhook`)));
    if (name === 'Demo administrator') {
      await show(page, url, 'clients');
      for (const subject of ['demo-budget', 'hostile']) {
        await page.getByRole('button', { name: `Change ${subject}` }).press('Enter');
        await page.getByRole('dialog').getByLabel('Reason').fill(hostile);
        found.push(...(await faultsOf(page, `${name}: the form of ${subject}`)));
        await page.keyboard.press('Escape');
      }
    }
    found.push(...faults);
    await page.context().close();
  }
  const { page, faults } = await openPage(browser, { userAgent: hostile });
  await page.goto(`${url}/operations/sign-in`);
  await page
    .getByText(/onerror/)
    .first()
    .waitFor();
  found.push(...(await faultsOf(page, 'the sign-in of operators')));
  await page.goto(`${url}/auth/v2/security?client_id=demo-budget`);
  found.push(...(await faultsOf(page, 'the sign-in of members')), ...faults);
  await page.context().close();
  return found;
}

/** A form of another origin, whose body reads as JSON, and which the browser sends with the cookie of the operator. */
const forgedForm = (action: string) =>
  `<form method="post" enctype="text/plain" action="${action}"><input name='{"reason":"forged","x":"' value='"}'></form><script>document.forms[0].submit()</script>`;

/** Another page in the browser of a signed-in administrator can neither act nor read nor sign out. */
export async function forgedRequests(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator');
  const found: string[] = [];
  for (const path of [
    '/operations/v1/screening/off',
    '/operations/v1/audit/verify',
    '/operations/sign-out',
  ]) {
    await using other = await otherOrigin(forgedForm(`${url}${path}`));
    const forged = await page.context().newPage();
    const answered = forged.waitForResponse((response) => response.url() === `${url}${path}`);
    await forged.goto(other.url);
    const status = (await answered).status();
    if (status < 400) found.push(`${path}: a form of another origin gets ${status}`);
    await forged.close();
  }
  await using reader = await otherOrigin('');
  const reading = await page.context().newPage();
  await reading.goto(reader.url);
  const read = await reading.evaluate(
    `fetch('${url}/operations/v1/operators', { credentials: 'include' }).then((response) => response.text(), () => 'refused')`,
  );
  if (read !== 'refused') found.push('a script of another origin reads the operators');
  await show(page, url, 'operators');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  await page.context().close();
  return found;
}
