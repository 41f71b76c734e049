import type { Browser } from 'playwright-core';
import { openPage, type WatchedPage } from './browser.ts';
import { otherOrigin } from './other-origin.ts';

const hostile = `"><img src=x onerror="self.taken=1"><script>self.taken=1</script>{{7*7}}\${7*7}`;
/** Fields whose form the app relies on; all other texts of a response can be written by a member, a core or an app. */
const fixed =
  /^(amount|currencyCode|category|type|transactionDate|postedAt|timestamp|grantedAt|expiresAt|status|DIAccountType)$/;

type Attack = readonly [name: string, run: () => Promise<readonly string[]>];

export function attackApp(browser: Browser, member: WatchedPage, url: string): readonly Attack[] {
  return [
    ['script in every text of a response is shown as text', () => hostileTexts(member, url)],
    [
      'a page of another origin cannot frame the app, the console and the sign-in',
      () => framed(browser, url),
    ],
    ['a response of another sign-in is refused', () => foreignResponse(browser, url)],
  ];
}

/** Replaces every text of every response, as a member, a core and the name of an app could. */
async function hostileTexts({ page }: WatchedPage, url: string): Promise<string[]> {
  const pattern = /\/digitalbanking\/db-(accounts|alerts)\/|\/auth\/v2\/(consents|userinfo)/;
  await page.route(pattern, async (route) => {
    const response = await route.fetch();
    const replaced = JSON.parse(await response.text(), (name, value) =>
      typeof value === 'string' && name !== '' && !fixed.test(name) && !/Id$|^sub$/.test(name)
        ? hostile
        : value,
    );
    await route.fulfill({ response, body: JSON.stringify(replaced) });
  });
  const found: string[] = [];
  for (const screen of [
    'accounts',
    'accounts/a-1001-checking',
    'transfer',
    'alerts',
    'alerts/preferences',
    'security',
  ]) {
    await page.goto(`${url}/app/demo-web#/${screen}`);
    await page.reload();
    await page
      .getByText(/onerror/)
      .first()
      .waitFor({ state: 'attached' });
    if (await page.evaluate('self.taken')) found.push(`${screen}: a script ran`);
    if ((await page.locator('img, script:not([src]):not([type=importmap])').count()) > 0)
      found.push(`${screen}: an element was made`);
    if ((await page.getByText('49').count()) > 0) found.push(`${screen}: a template was evaluated`);
  }
  await page.unroute(pattern);
  return found;
}

/** The app, the console and the pages of both sign-ins. */
const framedPaths = [
  ['/app/demo-web', 'Sign in'],
  ['/console', 'Sign in'],
  ['/operations/sign-in', 'Sign in'],
  ['/auth/v2/security?client_id=demo-budget', 'Password'],
] as const;

async function framed(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [path, words] of framedPaths) {
    await using other = await otherOrigin(`<iframe src="${url}${path}"></iframe>`);
    const { page } = await openPage(browser);
    await page.goto(other.url, { waitUntil: 'networkidle' });
    const body = page.frames()[1]?.locator('body');
    const text = (await body?.innerText().catch(() => '')) ?? '';
    if (text.includes(words)) found.push(`${path} shows in a frame`);
    await page.context().close();
  }
  return found;
}

/** A code of the attacker's own sign-in, with a state that this browser did not make. */
async function foreignResponse(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser);
  const exchanged: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/auth/v2/token')) exchanged.push(request.url());
  });
  await page.goto(`${url}/app/demo-web?code=stolen&state=planted&iss=${encodeURIComponent(url)}`);
  await page.getByRole('button', { name: 'Sign in' }).waitFor();
  const isKept = page.url().includes('stolen');
  await page.context().close();
  return [
    ...exchanged.map(() => 'a foreign code was exchanged'),
    ...(isKept ? ['the code stays in the address'] : []),
  ];
}
