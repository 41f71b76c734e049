import { generateKeyPairSync } from 'node:crypto';
import type { Browser } from 'playwright-core';
import { breachesOf, openPage, pressOn, sizes } from './browser.ts';
import { actByKeyboard, show, signIn } from './console-page.ts';
import { layoutFaults } from './layout.ts';

const jwks = () => {
  const key = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' });
  return JSON.stringify({ keys: [{ ...key, kid: 'walk' }] });
};

/** By the keyboard an administrator registers a provider, whose private key is refused, gives it other scopes, switches it off and removes it. */
export async function changesProvider(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo administrator');
  await show(page, url, 'clients');
  const dialog = page.getByRole('dialog');
  await pressOn(page, ['button', 'Register an identity provider']);
  await dialog.getByLabel('Id', { exact: true }).fill('walk-login');
  await dialog.getByLabel('Issuer').fill('https://login.walk.example');
  await dialog.getByLabel('Names the member by').selectOption({ label: 'member number' });
  await dialog.getByLabel('Most scopes of its members').fill('account:read transfer:read');
  await dialog.getByLabel('Reason').fill('A walk of the console');
  await page.keyboard.press('Enter');
  await dialog.getByText('Write a text.').waitFor();
  const secret = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' });
  await dialog.getByLabel('Public keys').fill(JSON.stringify({ keys: [{ ...secret, kid: 'walk' }] }));
  await dialog.getByLabel('Reason').press('Enter');
  await dialog
    .getByRole('alert')
    .getByText(/private/i)
    .waitFor();
  // The browser's console tells of the status 400.
  faults.splice(0);
  await dialog.getByLabel('Public keys').fill(jwks());
  await dialog.getByText('none → https://login.walk.example').waitFor();
  const found: string[] = [];
  for (const viewport of [sizes.phone, sizes.desktop]) {
    await page.setViewportSize(viewport);
    found.push(...(await breachesOf(page)), ...(await layoutFaults(page)));
  }
  await dialog.getByLabel('Reason').press('Enter');
  await page.getByText('The identity provider is registered.').waitFor();
  await page.getByRole('row', { name: /walk-login JWT Active .*Member number in sub/ }).waitFor();
  await pressOn(page, ['button', 'Change walk-login']);
  await dialog.getByLabel('Most scopes of its members').fill('account:read');
  await dialog.getByText('account:read transfer:read → account:read').waitFor();
  await dialog.getByLabel('Reason').fill('It needs no transfers');
  await page.keyboard.press('Enter');
  await page.getByText('walk-login is changed.').waitFor();
  const providers = page.getByRole('region', { name: 'Identity providers' });
  await providers.getByRole('button', { name: 'Switch off' }).press('Enter');
  await dialog.waitFor();
  await page.keyboard.type('A test');
  await page.keyboard.press('Enter');
  await page.getByText('walk-login is switched off.').waitFor();
  await actByKeyboard(page, 'Remove', 'The walk ends');
  await page.getByText('walk-login is removed.').waitFor();
  await providers.getByText('None.').waitFor();
  await pressOn(page, ['link', /^Audit$/]);
  await pressOn(page, ['button', 'Verify the hashes']);
  await page.getByText(/^The chain of changes is intact: /).waitFor();
  found.push(...(await breachesOf(page)), ...faults);
  await page.context().close();
  return found;
}
