// Walks the pages of operators outside a demo in a real browser: node scripts/browser/walk-operators.ts [--pictures]
//
// An administrator accepts an invitation with a passkey of the browser's virtual authenticator, signs a command line in, replaces the passkey, and
// invites, changes, suspends and ends another operator in the console. At last an operator signs in by the institution's OpenID provider. Each page
// has no error in the console, no breach of a policy, and no breach that axe-core finds, light and dark, on a phone and on a desktop. With
// --pictures it also writes those of docs/pictures.
import { mkdtemp, writeFile } from 'node:fs/promises';
import http from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import Provider from 'oidc-provider';
import type { Browser, Page } from 'playwright-core';
import { commandsOn } from '../../test/support/commands.ts';
import { startTestService } from '../../test/support/service.ts';
import { addAuthenticator } from './authenticator.ts';
import { breachesOf, openBrowser, openPage, sizes } from './browser.ts';
import { settled } from './console-page.ts';
import { outcome, report } from './report.ts';

type Commands = ReturnType<typeof commandsOn>;

interface Look {
  readonly colorScheme: 'light' | 'dark';
  readonly size: keyof typeof sizes;
}

interface Walk extends Look {
  readonly browser: Browser;
  readonly url: string;
  readonly sharedraft: Commands;
  /** The short name of the institution of this walk. */
  readonly code: string;
}

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const takesPictures = process.argv.includes('--pictures');
const looks: readonly Look[] = (['light', 'dark'] as const).flatMap((colorScheme) =>
  (['phone', 'desktop'] as const).map((size) => ({ colorScheme, size })),
);

/** Looks at the page as it stands, and takes its picture in one of the sizes, or on a phone and in light colors on a desktop. */
type See = (name: string, pictured?: keyof typeof sizes | 'both') => Promise<void>;

async function open({
  browser,
  colorScheme,
  size,
}: Walk): Promise<{ page: Page; faults: string[]; see: See }> {
  const { page, faults } = await openPage(browser, {
    viewport: sizes[size],
    colorScheme,
    reducedMotion: 'reduce',
  });
  const see: See = async (name, pictured) => {
    report(`${name}, ${size}, ${colorScheme}`, [...(await breachesOf(page)), ...faults.splice(0)]);
    const isPictured = pictured === 'both' ? size === 'phone' || colorScheme === 'light' : pictured === size;
    if (takesPictures && isPictured)
      await page.screenshot({ path: `${pictures}operators-${name}-${size}-${colorScheme}.png` });
  };
  return { page, faults, see };
}

async function create({ sharedraft, code }: Walk, ...more: string[]): Promise<void> {
  const settings = ['--name', 'Riverbank Credit Union', '--time-zone', 'America/Chicago'];
  const { code: status, stderr } = await sharedraft('institution', 'create', code, ...settings, ...more);
  if (status !== 0) throw new Error(stderr);
}

/** The first administrator, as docs/operators.md begins. */
async function inviteFirst({ sharedraft, code }: Walk): Promise<string> {
  const person = ['--name', 'Ada Admin', '--email', 'ada@bank.example', '--roles', 'administrator auditor'];
  const place = ['--institution', code, '--reason', 'first administrator'];
  const { stdout, stderr } = await sharedraft('operator', 'invite', ...person, ...place);
  const [, secret] = /code {2}(\S+)/.exec(stdout) ?? [];
  if (secret === undefined) throw new Error(stderr);
  return secret;
}

async function walkAdministrator(walk: Walk): Promise<void> {
  const { url, code } = walk;
  await create(walk);
  const secret = await inviteFirst(walk);
  const { page, faults, see } = await open(walk);
  await page.goto(`${url}/operations/sign-in`);
  const authenticator = await addAuthenticator(page);
  await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
  report('no demo button', (await page.getByText(/Continue as/).count()) > 0 ? ['there is one'] : []);
  await page.getByText('Sign in with your account at the institution').click();
  await see('sign-in', 'both');
  await page.getByLabel('Short name of the institution').fill(code);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  // The browser's console tells of the status 422.
  faults.splice(0);
  await see('no-provider');

  await page.goto(`${url}/operations/invitation?institution=${code}`);
  await page.getByLabel('Code').fill('not-the-code');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  faults.splice(0);
  await see('invitation-refused');
  await page.goto(`${url}/operations/invitation?institution=${code}`);
  await see('invitation', 'phone');
  await accept(page, secret, () => see('enrollment', 'both'));
  await passkeys(page, { url, faults, see, authenticator });
  await device(page, { url, code, faults, see });
  await manageOperators(page, { walk, faults, see });
  await page.context().close();
}

async function accept(page: Page, secret: string, seen: () => Promise<void> = async () => {}): Promise<void> {
  await page.getByLabel('Code').fill(secret);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: /^Welcome/ }).waitFor();
  await page.getByRole('button', { name: 'Make the passkey and sign in' }).waitFor();
  await seen();
  await page.getByLabel('Name of the passkey').fill('Work laptop');
  await page.getByRole('button', { name: 'Make the passkey and sign in' }).click();
  await page.waitForURL(/\/console/);
}

interface Steps {
  readonly url: string;
  readonly faults: string[];
  readonly see: See;
}

async function passkeys(
  page: Page,
  { url, faults, see, authenticator }: Steps & { readonly authenticator: { remove(): Promise<void> } },
): Promise<void> {
  await page.goto(`${url}/operations/passkeys`);
  await page.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('This is your only passkey').waitFor();
  faults.splice(0);
  await see('only-passkey');
  // Another device: the first one does not make a second passkey of the same operator.
  await authenticator.remove();
  await addAuthenticator(page);
  await page.goto(`${url}/operations/passkeys`);
  await page.getByLabel('Name of the passkey').fill('Blue phone');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByText('The passkey was added').waitFor();
  await see('passkeys', 'phone');
  const first = page.getByRole('listitem').filter({ hasText: 'Work laptop' });
  await first.getByRole('button', { name: 'Remove' }).click();
  await page.getByText('The passkey was removed').waitFor();
  report('replaces a passkey', faults.splice(0));
}

async function device(
  page: Page,
  { url, code, faults, see }: Steps & { readonly code: string },
): Promise<void> {
  const asking = { client_id: 'sharedraft-cli', institution: code, machine: 'ada on laptop' };
  const asked = await fetch(`${url}/operations/device-authorization`, {
    method: 'POST',
    body: new URLSearchParams(asking),
  });
  const { user_code: userCode } = (await asked.json()) as { user_code: string };
  await page.goto(`${url}/operations/device`);
  await page.getByLabel('Code').fill('BBBB-BBBB');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('alert').waitFor();
  faults.splice(0);
  await see('device-refused');
  await page.goto(`${url}/operations/device`);
  await see('device', 'phone');
  await page.getByLabel('Code').fill(userCode);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('ada on laptop').waitFor();
  await see('device-asks', 'both');
  await page.getByRole('button', { name: 'Sign it in' }).click();
  await page.getByText('The command line is signed in').waitFor();
  await see('device-done', 'phone');
}

async function manageOperators(
  page: Page,
  { walk, faults, see }: { readonly walk: Walk; readonly faults: string[]; readonly see: See },
): Promise<void> {
  const { url, code } = walk;
  const dialog = page.getByRole('dialog');
  await page.goto(`${url}/console#/operators`);
  await settled(page);
  await page.getByRole('button', { name: 'Invite an operator' }).click();
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('Choose at least one role.').waitFor();
  await see('invite-refused');
  await dialog.getByLabel('Name').fill('Ben Baker');
  await dialog.getByLabel('E-mail').fill('ben@bank.example');
  await dialog.getByLabel(/^Teller/).check();
  await dialog.getByLabel('Reason').fill('New in member service');
  await see('invite', 'desktop');
  await dialog.getByRole('button', { name: 'Invite' }).click();
  await page.getByText('Hand this to Ben Baker').waitFor();
  await settled(page);
  await page.getByRole('row', { name: /^Ben Baker/ }).waitFor();
  await see('invited');
  const secret = await page.locator('code').first().textContent();

  const other = await open(walk);
  await other.page.goto(`${url}/operations/invitation?institution=${code}`);
  await addAuthenticator(other.page);
  await accept(other.page, secret ?? '');
  await other.page.getByRole('link', { name: 'Members' }).waitFor();
  await other.page.goto(`${url}/console#/operators`);
  await settled(other.page);
  await other.page.getByRole('row', { name: /^Ben Baker/ }).waitFor();
  // The heads of the columns are buttons, which sort.
  const offered = await other.page.locator('main .actions, tbody').getByRole('button').count();
  report('a teller changes no operator', offered === 0 ? other.faults.splice(0) : [`${offered} buttons`]);

  await page.reload();
  const row = page.getByRole('row', { name: /^Ben Baker/ });
  const act = async (verb: string, confirmed: string, status: string) => {
    await row.getByRole('button', { name: verb, exact: true }).click();
    await dialog.getByLabel('Reason').fill('A walk');
    await dialog.getByRole('button', { name: confirmed }).click();
    await row.getByText(status).waitFor();
  };
  await row.getByRole('button', { name: 'Change roles' }).click();
  await dialog.getByLabel(/^Approver/).check();
  await see('roles');
  await dialog.getByLabel('Reason').fill('Decides from now on');
  await dialog.getByRole('button', { name: 'Change roles' }).click();
  await row.getByText('Teller, Approver').waitFor();
  await settled(page);
  await see('list', 'desktop');
  await act('Suspend', 'Suspend', 'Suspended');
  await act('Resume', 'Resume', 'Active');
  await act('End', 'End', 'Ended');
  report(
    'an operator who has ended has no acts',
    (await row.getByRole('button').count()) > 0 ? ['a button'] : [],
  );
  report('changes, suspends, resumes and ends an operator', faults.splice(0));
  await other.page.context().close();
}

/** node-oidc-provider with its own pages, as the institution's provider. Providers over http are for demos only. */
async function startProvider(redirectUris: readonly string[]): Promise<{ issuer: string; end: () => void }> {
  const port = await freePort();
  const issuer = `http://127.0.0.1:${port}`;
  const client = { client_id: 'sharedraft', client_secret: 'a secret of the walk', require_auth_time: true };
  const provider = new Provider(issuer, {
    clients: [{ ...client, redirect_uris: [...redirectUris] }],
    claims: { openid: ['sub', 'groups', 'name'] },
    conformIdTokenClaims: false,
    cookies: { keys: ['a key of the walk'] },
    findAccount: (_context: unknown, id: string) => ({
      accountId: id,
      claims: () => ({ sub: id, name: 'Cleo Clark', groups: ['bank-staff'] }),
    }),
  });
  const server = http.createServer(provider.callback()).listen(port, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    issuer,
    end: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function walkProvider(walk: Walk, issuer: string): Promise<void> {
  const { url, code } = walk;
  const { page, faults, see } = await open(walk);
  await page.goto(`${url}/operations/sign-in?next=/console`);
  await page.getByText('Sign in with your account at the institution').click();
  await page.getByLabel('Short name of the institution').fill(code);
  // The page leads on by itself; here it stays.
  await page.route(`${issuer}/**`, (route) => route.fulfill({ status: 204 }));
  await page.getByRole('button', { name: 'Continue', exact: true }).click();
  await page.getByRole('heading', { name: 'On to your institution' }).waitFor();
  faults.splice(0);
  await see('leaving', 'both');
  await page.unroute(`${issuer}/**`);
  await page.getByRole('link', { name: 'Continue' }).click();
  await page.locator('input[name=login]').fill('cleo');
  await page.locator('input[name=password]').fill('x');
  await page.locator('button[type=submit]').click();
  await page.locator('button[type=submit]').click();
  await page.waitForURL(`${url}/console**`);
  await page.getByText('Cleo Clark').first().waitFor();
  // The pages of the provider are not ours.
  report(
    'signs in by the provider',
    faults.splice(0).filter((fault) => !fault.startsWith(issuer)),
  );
  await page.context().close();
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

const browser = await openBrowser();
if (browser !== undefined) {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  await using service = await startTestService({
    demo: false,
    environment: { PORT: String(port), PUBLIC_URL: url },
  });
  const sharedraft = commandsOn(service.db);
  const walks = looks.map((look, at) => ({ ...look, browser, url, sharedraft, code: `riverbank-${at + 1}` }));
  const failed =
    ({ size, colorScheme }: Look) =>
    (error: Error) =>
      report(`walk, ${size}, ${colorScheme}`, [error.message.split('\n').slice(0, 3).join(' ')]);
  for (const walk of walks) await walkAdministrator(walk).catch(failed(walk));

  const withProvider = walks.map((walk) => ({ ...walk, code: walk.code.replace('riverbank', 'meadowbank') }));
  const callbacks = withProvider.map(({ code }) => `${url}/operations/sign-in/callback/${code}`);
  const { issuer, end } = await startProvider(callbacks);
  const secretFile = path.join(await mkdtemp(path.join(tmpdir(), 'sharedraft-walk-')), 'secret');
  await writeFile(secretFile, 'a secret of the walk\n');
  for (const walk of withProvider) {
    await create(walk, '--demo');
    const settings = ['--issuer', issuer, '--client-id', 'sharedraft', '--client-secret-file', secretFile];
    const more = [
      '--group',
      'bank-staff=viewer teller',
      '--reason',
      'single sign-on',
      '--institution',
      walk.code,
    ];
    const { code, stderr } = await sharedraft(
      'institution',
      'operators-provider',
      'set',
      ...settings,
      ...more,
    );
    if (code !== 0) throw new Error(stderr);
    await walkProvider(walk, issuer).catch(failed(walk));
  }
  end();
  await browser.close();
  if (outcome() === 1) process.exitCode = 1;
}
