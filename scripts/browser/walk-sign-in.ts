// Walks the pages of sign-in in a real browser, against a demo of its own: node scripts/browser/walk-sign-in.ts [--pictures]
//
// A member signs in by password, enrolls a passkey with the browser's virtual authenticator, signs in with it by the button and by suggestion,
// consents, and removes the passkey. Then an authenticator app is set up, used and removed, and the member signs out. Another one activates, and asks for a
// code in place of a forgotten password. An app sends a wrong address, and a member stops mail by the link of a message. Each page has no error in the
// console, no breach of a policy, and no breach that axe-core finds, light and dark, on a phone and on a desktop. With --pictures it also writes those of
// docs/pictures.
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { codeOf, stepAt } from '../../src/auth/second-factor/totp.ts';
import { startMailbox } from '../../test/mail/mailbox.ts';
import { addAuthenticator, secretIn } from './authenticator.ts';
import { brand } from './branded.ts';
import { breachesOf, openBrowser, openPage, sizes } from './browser.ts';
import { unsubscribeLink } from './mail-link.ts';
import { startDemo } from './service.ts';

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
const failures: string[] = [];

function report(subject: string, found: readonly string[]): void {
  process.stdout.write(`${found.length === 0 ? 'ok  ' : 'FAIL'} ${subject}\n`);
  for (const one of found) process.stdout.write(`     ${one}\n`);
  failures.push(...found);
}

async function signInByPassword(page: Page): Promise<void> {
  await page.getByLabel('Username').fill('demo.member');
  await page.getByLabel('Password').fill('demo-member-password');
  await page.getByRole('button', { name: 'Sign in', exact: true }).click();
}

const script = `"><img src=x onerror="self.taken=1"><script>self.taken=1</script>`;

/** A member signs in with script in the user agent, which the page of security names among their browsers. */
async function hostileAgents(browser: Browser, url: string): Promise<void> {
  for (const [userAgent, name] of [
    [script, 'A browser'],
    [`Mozilla/5.0 (X11; Linux x86_64; ${script}) Firefox/142.0${script}`, 'Firefox on Linux'],
  ] as const) {
    const { page, faults } = await openPage(browser, { userAgent });
    await page.goto(`${url}/auth/v2/security?client_id=demo-budget`);
    await signInByPassword(page);
    await page.getByText(name).first().waitFor();
    const found = [...faults, ...(await breachesOf(page))];
    if (await page.evaluate('self.taken')) found.push('a script ran');
    if ((await page.locator('img[src=x], script:not([src])').count()) > 0) found.push('an element was made');
    if ((await page.getByText(/onerror/).count()) > 0) found.push('the page shows the user agent');
    report(`script in a user agent, shown as ${name}`, found);
    await page.context().close();
  }
}

/** Looks at the page as it stands, and takes its picture on a phone, and of some in light colors on a desktop. */
type See = (
  name: string,
  options?: { readonly inPictures?: boolean; readonly onDesktop?: boolean },
) => Promise<void>;

interface Steps {
  readonly page: Page;
  readonly faults: string[];
  readonly seen: See;
}

/** A member who signed in by password comes back for an act that asks for a passkey. */
async function stepUp({ page, seen }: Steps, address: string): Promise<void> {
  await page.goto(`${address}&${new URLSearchParams({ acr_values: 'phr', login_hint: 'demo.member' })}`);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  await page.getByText('asks you to sign in with a passkey').waitFor();
  await seen('step-up', { onDesktop: true });
}

/** The page asks, since a link of another site must not sign a member out. */
async function leave({ page, faults, seen }: Steps, url: string): Promise<void> {
  await page.goto(`${url}/auth/v2/logout`);
  await page.getByRole('heading', { name: 'Sign out?' }).waitFor();
  await seen('sign-out', { onDesktop: true });
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  await seen('signed-out');
  await page.goto(`${url}/auth/v2/security?client_id=demo-budget`);
  await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  report('signs out', faults.splice(0));
}

/** Nothing leads back to an app whose address is not certain. */
async function refused({ page, faults, seen }: Steps, address: string): Promise<void> {
  const wrong = new URL(address);
  wrong.searchParams.set('redirect_uri', 'https://elsewhere.example/');
  await page.goto(String(wrong));
  await page.getByRole('heading', { name: 'This did not work' }).waitFor();
  // The browser's console tells of the status 400.
  faults.splice(0);
  await seen('refused');
}

async function stopMail({ page, seen }: Steps, link: string): Promise<void> {
  await page.goto(link);
  await page.getByRole('heading', { name: 'Stop alerts by e-mail?' }).waitFor();
  await seen('unsubscribe');
  await page.getByRole('button').click();
  await page.getByRole('heading', { name: 'Stop alerts by e-mail?' }).waitFor({ state: 'detached' });
  await seen('unsubscribed', { inPictures: false });
}

async function walk(
  browser: Browser,
  url: string,
  {
    colorScheme,
    size,
    takesPictures,
    mailLink,
  }: {
    readonly colorScheme: 'light' | 'dark';
    readonly size: keyof typeof sizes;
    readonly takesPictures: boolean;
    /** Stops alerts by e-mail. */
    readonly mailLink: string;
  },
): Promise<void> {
  const { page, faults } = await openPage(browser, { viewport: sizes[size], colorScheme });
  const seen: See = async (name, { inPictures = true, onDesktop = false } = {}) => {
    report(`${name}, ${size}, ${colorScheme}`, [...(await breachesOf(page)), ...faults.splice(0)]);
    const isPictured = size === 'phone' ? inPictures : onDesktop && colorScheme === 'light';
    if (!takesPictures || !isPictured) return;
    await page.screenshot({ path: `${pictures}sign-in-${name}-${size}-${colorScheme}.png` });
  };
  const security = `${url}/auth/v2/security?client_id=demo-budget`;
  const authorize = `${url}/auth/v2/authorize?${new URLSearchParams({
    ...{ client_id: 'demo-budget', response_type: 'code', redirect_uri: `${url}/`, state: 's' },
    ...{ scope: 'openid profile account:read', prompt: 'login consent', code_challenge_method: 'S256' },
    code_challenge: challenge,
  })}`;

  const steps = { page, faults, seen };

  await page.goto(security);
  await addAuthenticator(page);
  await seen('password');
  await page.getByRole('button', { name: 'Activate your access' }).click();
  await page.getByRole('heading', { name: 'Activate your access' }).waitFor();
  await seen('activation');
  await page.getByLabel('Code').fill('not-the-code');
  await page.getByLabel('Username').fill('new.member');
  await page.getByLabel('Password').fill('a feather falls on ink');
  await page.getByRole('button', { name: 'Activate and sign in' }).click();
  await page.getByRole('alert').waitFor();
  // The browser's console tells of the status 422.
  faults.splice(0);
  await seen('activation-refused', { inPictures: false });
  await page.goto(security);
  await page.getByRole('button', { name: 'Forgot your password?' }).click();
  await seen('forgotten');
  await page.getByLabel('Username').fill('nobody.at.all');
  await page.getByRole('button', { name: 'Send the code' }).click();
  await page.getByText('If the username is known').waitFor();
  await seen('code-on-its-way', { inPictures: false });
  await page.goto(security);
  await signInByPassword(page);
  await page.getByRole('heading', { name: 'Sign-in and security' }).waitFor();
  await page.getByRole('button', { name: 'Add a passkey' }).waitFor();
  await seen('enrollment', { onDesktop: true });
  await stepUp(steps, authorize.replace('&prompt=login+consent', ''));
  await page.goto(security);
  await page.getByLabel('Name of the new passkey').fill('Blue phone');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey was added').waitFor();
  await seen('security');

  // The authenticator takes the suggestion at once.
  await page.goto(authorize);
  await page.getByRole('heading', { name: /^Allow/ }).waitFor();
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.getByRole('alert').waitFor();
  // The browser's console tells of the status 422.
  faults.splice(0);
  await seen('consent-refused', { inPictures: false });
  await page.getByLabel('Share Draft').check();
  await page.getByLabel('Share Savings').check();
  await seen('consent');
  await page.getByRole('button', { name: 'Allow', exact: true }).click();
  await page.waitForURL(/[?&]code=/);
  report('signs in with the passkey that the browser suggests, and consents', faults.splice(0));

  await page.addInitScript('PublicKeyCredential.isConditionalMediationAvailable = async () => false;');
  await page.goto(authorize);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
  await page.getByRole('heading', { name: /^Allow/ }).waitFor();
  report('signs in with a passkey by the button', faults.splice(0));

  await page.goto(security);
  const allowed = page.locator('h2', { hasText: 'Apps that you allowed' }).locator('~ ul').first();
  await page
    .locator('h2', { hasText: 'Where you are signed in' })
    .evaluate((heading) => heading.scrollIntoView());
  await seen('accesses');
  await allowed.getByText('Accounts and rights').click();
  await seen('consent-parts', { inPictures: false });
  await allowed.getByRole('button', { name: 'Remove' }).first().click();
  await page.getByText('The app lost it at once').waitFor();
  report('takes an account out of a consent', faults.splice(0));
  await allowed.getByRole('button', { name: 'End' }).click();
  await page.getByText('It was ended').waitFor();
  await page.getByText('You allowed no app').waitFor();
  report('ends a consent', faults.splice(0));

  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The passkey was removed').waitFor();
  report('removes the passkey', faults.splice(0));

  await page.getByRole('button', { name: 'Set up an authenticator app' }).click();
  await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor();
  await seen('authenticator');
  const href = await page.getByRole('link', { name: 'Open the app' }).getAttribute('href');
  const secret = secretIn(href ?? '');
  const step = stepAt(new Date());
  await page.getByLabel('Code of the app').fill(codeOf(secret, step));
  await page.getByLabel('Name').fill('Blue phone');
  await page.getByRole('button', { name: 'Confirm' }).click();
  await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor();
  await seen('recovery-codes', { onDesktop: true });
  await page.goto(authorize);
  await signInByPassword(page);
  await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
  await seen('code');
  await page.getByLabel('Code', { exact: true }).fill('000000');
  await page.getByRole('button', { name: 'Continue' }).first().click();
  await page.getByRole('alert').waitFor();
  // The browser's console tells of the status 401.
  faults.splice(0);
  await page.getByText('Use a recovery code').click();
  await seen('code-refused', { inPictures: false });
  // The step of the first code is spent; the next one is within the window.
  await page.getByLabel('Code', { exact: true }).fill(codeOf(secret, step + 1));
  await page.getByRole('button', { name: 'Continue' }).first().click();
  await page.getByRole('heading', { name: /^Allow/ }).waitFor();
  report('signs in with the password and a code', faults.splice(0));
  await page.goto(security);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The authenticator app was removed').waitFor();
  report('removes the authenticator app', faults.splice(0));
  await leave(steps, url);
  await refused(steps, authorize);
  await stopMail(steps, mailLink);
  await page.context().close();
}

/** The first page of an institution with a color and a logo of its own. */
async function branded(browser: Browser, url: string, takesPictures: boolean): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    const { page, faults } = await openPage(browser, { viewport: sizes.phone, colorScheme });
    await page.goto(`${url}/auth/v2/security?client_id=demo-budget`);
    await page.getByRole('img', { name: 'Lakeside' }).waitFor();
    report(`branded, ${colorScheme}`, [...(await breachesOf(page)), ...faults]);
    if (takesPictures) await page.screenshot({ path: `${pictures}sign-in-branded-phone-${colorScheme}.png` });
    await page.context().close();
  }
}

const browser = await openBrowser();
if (browser !== undefined) {
  await using mailbox = await startMailbox();
  await using demo = await startDemo({ SMTP_URL: `smtp://127.0.0.1:${mailbox.port}` });
  const mailLink = await unsubscribeLink(demo, mailbox);
  const takesPictures = process.argv.includes('--pictures');
  await hostileAgents(browser, demo.url);
  for (const colorScheme of ['light', 'dark'] as const) {
    for (const size of ['phone', 'desktop'] as const) {
      await walk(browser, demo.url, { colorScheme, size, takesPictures, mailLink }).catch((error: Error) =>
        report(`walk, ${size}, ${colorScheme}`, [error.message.split('\n').slice(0, 3).join(' ')]),
      );
    }
  }
  await brand(browser, demo);
  await branded(browser, demo.url, takesPictures);
  await browser.close();
  if (failures.length > 0) process.exitCode = 1;
}
