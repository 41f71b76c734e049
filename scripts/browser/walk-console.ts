// Walks the console in a real browser, against a demo of its own: node scripts/browser/walk-console.ts [--pictures]
//
// Every screen for every role, light and dark, on a phone and on a desktop, at 200 % zoom, without motion. Journeys, by the keyboard alone: two
// persons decide on a transfer; why a member cannot sign in or pay; an event is sent again; a break is adjusted. Others: a role that is taken away while its page is open; another institution; script in every text.
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { forgedRequests, hostileTexts, storedTexts } from './attack-console.ts';
import { breachesOf, openBrowser, openPage, pressOn, sizes } from './browser.ts';
import { decidesSeveral } from './bulk.ts';
import { changesInstitution } from './change-institution.ts';
import { changesProvider } from './change-provider.ts';
import { confirmsProposal } from './confirm-proposal.ts';
import { actByKeyboard, order, show, signIn } from './console-page.ts';
import { leadsToFinding } from './findings.ts';
import { showsFullMember } from './full-member.ts';
import { loadsScreens } from './lazy-screens.ts';
import { walksLedger } from './ledger-walk.ts';
import { agesLead, followed, followedWithoutStream, queueFollows } from './live-consoles.ts';
import { showsWholeMember } from './member-whole.ts';
import { searchesPeriod } from './period.ts';
import { showsCurrentLink } from './phone-links.ts';
import { previewsRules } from './preview-rules.ts';
import { replayed, startHook } from './replay-webhook.ts';
import { journey, outcome, report } from './report.ts';
import { savesWholeList } from './save-list.ts';
import { changesClient, filtersTable, findsAnything, showsBothSides } from './search-and-filter.ts';
import { type DemoService, startDemo } from './service.ts';
import { losesRole, suspended, tellsOfTheEnd } from './session-ends.ts';
import { sortsWholeList } from './sort-list.ts';
import { keepsSelection, keepsView, refusesWrongView } from './table-address.ts';
import { staysTable } from './table-cards.ts';
import { roles, takePictures, walkRole } from './walk-roles.ts';

/** A file of the core's balances, which are others than those here. */
async function balancesOfCore(): Promise<string> {
  const file = path.join(tmpdir(), `sharedraft-core-${process.pid}.csv`);
  await writeFile(file, 'account_id,balance,currency_code\na-1002-checking,1.23,USD\n');
  return file;
}

/** Two persons approve by the keyboard; one of them alone cannot. */
async function twoPersons(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [name, words] of [
    ['Demo approver', /Another person must approve/],
    ['Second demo approver', /The transfer is completed/],
  ] as const) {
    const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
    await signIn(page, url, name);
    await show(page, url, 'review');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('a');
    await page.getByRole('dialog').waitFor();
    found.push(...(await breachesOf(page)));
    await page.keyboard.press('Enter');
    await page.getByText('Write the reason.').waitFor();
    await page.keyboard.type('Known payee, called back');
    await page.keyboard.press('Enter');
    await page.getByText(words).waitFor();
    found.push(...faults);
    await page.context().close();
  }
  return found;
}

/** By the keyboard alone: lock a member, see why they cannot sign in, unlock, and give them an activation code. */
async function whyNot(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller', 'lakeside');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('hazel.signer');
  await page.keyboard.press('Enter');
  await pressOn(page, ['link', /Hazel/]);
  await page.getByText('does not allow it').first().waitFor();
  for (const [verb, state] of [
    ['Lock', 'Locked by an operator'],
    ['Unlock', 'Active'],
  ] as const) {
    await actByKeyboard(page, verb, 'The member called');
    await page.getByText('It is done.').waitFor();
    await page.getByRole('heading', { name: `Sign-in ${state}` }).waitFor();
  }
  await actByKeyboard(page, 'New activation code', 'The member forgot the password');
  await page.getByText(/^The activation code is [A-Z0-9-]{8,}, valid until/i).waitFor();
  const breaches = await breachesOf(page);
  await page.context().close();
  return [...breaches, ...faults];
}

/** A break with the core, by the keyboard alone: found by its class, taken over, with a note in its story, adjusted by two persons; a viewer has no act. */
async function worksOnBreak(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo teller');
  await show(page, url, 'breaks');
  await pressOn(page, ['combobox', 'Class'], 'D');
  await page.getByText('No break is open in this class.').waitFor();
  await pressOn(page, ['combobox', 'Class'], 'Home');
  await pressOn(page, ['link', /^1$/]);
  await actByKeyboard(page, 'Take over', 'I ask the core');
  await page.getByText('The owner is Demo teller.').waitFor();
  await page.getByText('I ask the core').waitFor();
  await page.getByRole('button', { name: 'Let go' }).waitFor();
  const breaches = await breachesOf(page);
  await page.context().close();
  const viewer = await openPage(browser, { viewport: sizes.desktop });
  await signIn(viewer.page, url, 'Demo viewer');
  await show(viewer.page, url, 'breaks/1');
  await viewer.page.getByText('I ask the core').waitFor();
  const acts = await viewer.page.getByRole('button', { name: /^(Take over|Let go|Note|Adjust)$/ }).count();
  await viewer.page.context().close();
  for (const [name, result] of [
    ['Demo approver', 'Your adjustment is noted. Another person must decide the same.'],
    ['Second demo approver', 'The difference is posted, and the break is closed.'],
  ] as const) {
    const approver = await openPage(browser, { viewport: sizes.desktop });
    await signIn(approver.page, url, name);
    await show(approver.page, url, 'breaks/1');
    await actByKeyboard(approver.page, 'Adjust', 'The core is right');
    await approver.page.getByText(result).waitFor();
    await approver.page.context().close();
  }
  return [...faults, ...breaches, ...(acts === 0 ? [] : ['a viewer sees acts on a break'])];
}

/** An act that a role does not allow is not shown, and the address of such a screen says so. */
async function notAllowed(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo viewer');
  await show(page, url, 'members/p-1002');
  const acts = await page.getByRole('button', { name: /^(Lock|Unlock|Deactivate|End sessions)$/ }).count();
  await page.context().close();
  const other = await openPage(browser, { viewport: sizes.desktop });
  await signIn(other.page, url, 'Demo administrator');
  const links = await other.page.getByRole('link', { name: 'Members' }).count();
  await show(other.page, url, 'members/p-1002');
  await other.page.getByRole('heading', { name: 'Not allowed' }).waitFor();
  const breaches = await breachesOf(other.page);
  await other.page.context().close();
  return [
    ...breaches,
    ...(acts === 0 ? [] : ['a viewer sees acts']),
    ...(links === 0 ? [] : ['an administrator sees Members']),
  ];
}

/** The institution's screen shows the queues and the batches that the orders before have made. */
async function showsWork(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.phone });
  await signIn(page, url, 'Demo viewer');
  await show(page, url, 'institution');
  await page.getByText(/^half have at most \d+, 99 of 100 at most \d+$/).waitFor();
  await page.getByText(/^\d+ of \d+ run$/).waitFor();
  await page.context().close();
  return faults;
}

/** A transfer that waits shows the threshold that it is above, and the checks before. */
async function explainsDecision(browser: Browser, url: string): Promise<string[]> {
  const { page, faults } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo auditor');
  await show(page, url, 'transfers/walk-2');
  const row = (name: RegExp) => page.getByRole('row', { name }).waitFor();
  await row(
    /^Limit of the member, by day Passed used .* cap \$3,000\.00, cap of one \$2,500\.00 .* Recomputed$/,
  );
  await row(/^Available funds Passed available .* Stored$/);
  await row(
    /^Review of one transfer Held above \$500\.00, two persons above \$1,500\.00 \$500\.00 Recomputed$/,
  );
  await page.context().close();
  return faults;
}

/** The audit shows the acts of the journeys before, to the roles that may read it. */
async function audit(browser: Browser, url: string): Promise<string[]> {
  const found: string[] = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    const { page, faults } = await openPage(browser, { viewport });
    await signIn(page, url, 'Demo auditor');
    await show(page, url, 'audit');
    found.push(...(await breachesOf(page)).map((breach) => `${size}: ${breach}`));
    await page.getByLabel('Operator').fill('Second demo approver');
    await page.getByLabel('Action, like login').fill('transfer.approved');
    await page.keyboard.press('Enter');
    await page.getByText('Known payee, called back').first().waitFor();
    await page.getByRole('button', { name: 'Details' }).first().click();
    const details = page.getByRole('dialog', { name: 'transfer.approved, succeeded' });
    await details.getByText('127.0.0.1').waitFor();
    found.push(...(await breachesOf(page)).map((breach) => `${size}, details: ${breach}`));
    await details.getByRole('link').first().click();
    await page.waitForURL(({ hash }) => hash.startsWith('#/transfers/'));
    found.push(...faults);
    await page.context().close();
  }
  return found;
}

/** In a demo of its own: the other journeys use up what the account may send in a day. */
async function decidesSeveralAlone(browser: Browser): Promise<string[]> {
  await using demo = await startDemo();
  // The demo ends when this function does.
  return await decidesSeveral(browser, demo.url);
}

/** In a demo of its own: the apps of the other journeys need their secrets. */
async function changesClientAlone(browser: Browser): Promise<string[]> {
  await using demo = await startDemo();
  return await changesClient(browser, demo.url);
}

/** The operator of one institution under an address of another. */
async function otherInstitution(browser: Browser, url: string): Promise<string[]> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo viewer', 'lakeside');
  await show(page, url, 'transfers/walk-1');
  await page.getByText('It does not exist').waitFor();
  await page.context().close();
  return [];
}

/** The transfers and the break that the screens show. */
async function fill(demo: DemoService, now: Date): Promise<void> {
  const { url } = demo;
  await order(url, { id: 'walk-1', amount: 105.25, memo: 'Rent', toAccountId: 'a-1002-savings' });
  const asOf = now.toISOString();
  await demo.run('reconcile', '--institution', 'harbor', '--core', await balancesOfCore(), '--as-of', asOf);
  // Above 500.00 one person decides, above 1,500.00 two.
  const held = [
    await order(url, { id: 'walk-2', amount: 1750, memo: 'Boat repair', toAccountId: 'a-1001-checking' }),
    await order(url, { id: 'walk-3', amount: 640.5, toAccountId: 'a-1001-savings' }),
  ];
  report(
    'orders above the threshold wait',
    held.filter((status) => status !== 'PENDING'),
  );
}

/** In a demo of its own, whose clock stands still. The browser's is some minutes later, so that waiting transfers have an age. */
async function makePictures(browser: Browser): Promise<void> {
  const at = new Date('2026-11-20T16:04:00Z');
  await using demo = await startDemo({
    NODE_OPTIONS: `--import=${new URL('fixed-clock.mjs', import.meta.url)}`,
    FIXED_TIME: at.toISOString(),
    DEMO_CORE: 'false',
  });
  await fill(demo, at);
  await takePictures(browser, demo.url, new Date(at.getTime() + 12 * 60_000));
}

const browser = await openBrowser();
if (browser !== undefined) {
  if (process.argv.includes('--pictures')) await makePictures(browser);
  await using demo = await startDemo({ METRICS_PORT: '0' });
  const { url } = demo;
  await using hook = await startHook(url);
  await fill(demo, new Date());
  // By a clock that is an hour behind, so that the accounts are ahead of it: findings of a run.
  await demo.runAt(new Date(Date.now() - 3_600_000), 'reconcile', '--institution', 'harbor');
  for (const role of roles) await walkRole(browser, url, role);
  await journey('screens load when they are opened', () => loadsScreens(browser, url));
  await journey('a transfer shows the checks of its decision', () => explainsDecision(browser, url));
  await journey('the work of the processes is shown', () => showsWork(browser, url));
  await journey('order and filter of a table stand in the address', () => keepsView(browser, url));
  await journey('an address with wrong parts is no error', () => refusesWrongView(browser, url));
  await journey('the selected transfer stands in the address', () => keepsSelection(browser, url));
  await journey('a table on a phone is cards, and a table for screen readers', () =>
    staysTable(browser, url),
  );
  await journey('on a phone the link of the screen is in view', () => showsCurrentLink(browser, url));
  await journey('two persons approve by the keyboard', () => twoPersons(browser, url));
  await journey('an act that waits for a second person is confirmed', () => confirmsProposal(browser, url));
  // Before the break is adjusted, which takes the money of the account.
  await journey('the review queue follows', () => queueFollows(browser, url));
  await journey('a count of an age leads to the transfers that it counts', () => agesLead(browser, url));
  await journey('several transfers are decided with one reason', () => decidesSeveralAlone(browser));
  await journey('why a member cannot pay or sign in', () => whyNot(browser, url));
  await journey('a member with means of sign-in, alerts and last events', () =>
    showsWholeMember(browser, url),
  );
  await journey('anything is found by Ctrl K', () => findsAnything(browser, url));
  await journey('a figure of Today leads to its findings', () => leadsToFinding(browser, url));
  await journey('an entry leads to both sides of its posting', () => showsBothSides(browser, url));
  await journey('the ledger is walked from the trial balance to a posting', () => walksLedger(browser, url));
  await journey('a table is filtered and saved', () => filtersTable(browser, url));
  await journey('a client gets a new secret, and is switched off and on', () => changesClientAlone(browser));
  await journey('an event of a webhook is sent again', () => replayed(browser, url, hook));
  await journey('a period is searched by days and times', () => searchesPeriod(browser, url));
  await journey('a list is saved as a whole', () => savesWholeList(browser, url));
  await journey('a break gets an owner and a note', () => worksOnBreak(browser, url));
  await journey('other rules are tried on the last days', () => previewsRules(browser, url));
  await journey('settings are changed in words, and a day is closed', () => changesInstitution(browser, url));
  await journey('an identity provider is registered, changed and removed', () =>
    changesProvider(browser, url),
  );
  await journey('the audit shows the approvals', () => audit(browser, url));
  await journey('the figures of today follow by the stream', () => followed(browser, url));
  await journey('the figures of today follow without a stream', () => followedWithoutStream(browser, url));
  await journey('screens and acts that a role does not allow', () => notAllowed(browser, url));
  await journey('an operator of another institution', () => otherInstitution(browser, url));
  await journey('a long list is sorted as a whole', () => sortsWholeList(browser, url));
  await journey('a member with one of everything', () => showsFullMember(browser, url));
  await journey('script in every text', () => hostileTexts(browser, url));
  await journey('script that persons and programs have stored', () => storedTexts(browser));
  await journey('requests that another page forges', () => forgedRequests(browser, url));
  await journey('a page tells of the end of its session', () => tellsOfTheEnd(browser, url));
  await journey('a role that is taken away while its page is open', () => losesRole(browser, url));
  await journey('an operator who is suspended', () => suspended(browser, url));
  await browser.close();
  process.exitCode = outcome();
}
