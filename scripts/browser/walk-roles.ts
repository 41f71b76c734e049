// Every screen of the console for each role: its looks, and the links and acts that the role allows.
import { mkdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { breachesOf, openPage, sizes } from './browser.ts';
import { settled, signIn } from './console-page.ts';
import { layoutFaults, motionFaults } from './layout.ts';
import { report } from './report.ts';

export const screens = [
  ['today', 'Today'],
  ['review', 'Review'],
  ['transfers', 'Transfers'],
  ['transfers/walk-1', 'Transfer'],
  ['transfers/walk-2', 'Transfer'],
  ['members?text=100002', 'Members'],
  ['members/p-1002', /Marina/],
  ['accounts/a-1002-checking', 'Share Draft'],
  ['accounts/internal:core-settlement:USD', 'Core settlement, USD'],
  ['classes/CHECKING?currency=USD', 'Checking, USD'],
  ['entries/a-1002-checking?entry=1', 'Posting'],
  ['search?text=walk-1', 'Search'],
  ['ledger', 'Ledger'],
  ['breaks', 'Breaks'],
  ['breaks/1', 'Break 1'],
  ['reconcile', 'Reconcile'],
  ['reconcile/1', 'Run 1'],
  ['webhooks', 'Webhooks'],
  ['audit', 'Audit'],
  ['limits', 'Limits'],
  ['clients', 'Clients'],
  ['operators', 'Operators'],
  ['institution', 'Institution'],
] as const;
type Address = (typeof screens)[number][0];

const aboutMembers: readonly Address[] = [
  'review',
  'transfers',
  'transfers/walk-1',
  'transfers/walk-2',
  'members?text=100002',
  'members/p-1002',
  'accounts/a-1002-checking',
  'accounts/internal:core-settlement:USD',
  'classes/CHECKING?currency=USD',
  'entries/a-1002-checking?entry=1',
  // Its story names the balance of the account.
  'breaks/1',
];
const common = [
  'Today',
  'Ledger',
  'Limits',
  'Breaks',
  'Reconcile',
  'Webhooks',
  'Clients',
  'Operators',
  'Institution',
];
const withMembers = [...common, 'Review', 'Transfers', 'Members'];

interface Role {
  readonly name: string;
  readonly links: readonly string[];
  readonly refused: readonly Address[];
  /** The acts that a screen offers; the others offer none. */
  readonly acts: Readonly<Partial<Record<Address, readonly string[]>>>;
}

/** Written down a second time on purpose: the console reads its rights from the service. */
export const roles: readonly Role[] = [
  { name: 'Demo viewer', links: withMembers, refused: ['audit'], acts: {} },
  {
    name: 'Demo teller',
    links: withMembers,
    refused: ['audit'],
    acts: {
      'members/p-1002': ['Deactivate', 'End sessions', 'Lock', 'New activation code'],
      'accounts/a-1002-checking': ['Freeze'],
      'breaks/1': ['Note', 'Take over'],
    },
  },
  {
    name: 'Demo approver',
    links: withMembers,
    refused: ['audit'],
    acts: {
      review: ['Approve', 'Decline'],
      'transfers/walk-1': ['Reverse'],
      'transfers/walk-2': ['Approve', 'Decline'],
      'breaks/1': ['Adjust', 'Note', 'Take over'],
    },
  },
  {
    name: 'Demo auditor',
    links: [...withMembers, 'Audit'],
    refused: [],
    acts: { audit: ['Verify the hashes'] },
  },
  {
    name: 'Demo administrator',
    links: [...common, 'Audit'],
    refused: aboutMembers,
    acts: {
      operators: ['Change roles', 'End', 'Invite an operator', 'Suspend'],
      audit: ['Verify the hashes'],
      clients: [
        'Change harbor-app',
        'End all secrets',
        'New secret',
        'Register an identity provider',
        'Switch off',
      ],
      institution: [
        ...['Change Institution', 'Change Registration', 'Change Sign-in of members'],
        ...['End the exception', 'Open or close a day'],
      ],
    },
  },
];
const everyAct = new Set([
  ...[
    'Lock',
    'Unlock',
    'Activate',
    'Deactivate',
    'New activation code',
    'End sessions',
    'Remove authenticator',
    'Freeze',
    'Close',
  ],
  ...['End the restriction', 'Approve', 'Decline', 'Reverse', 'Note', 'Let go', 'Take over', 'Adjust'],
  ...['Switch on', 'Switch off', 'New secret', 'End the older secret', 'End the consent'],
  ...['Invite an operator', 'Change roles', 'New code', 'Suspend', 'Resume', 'End'],
  ...['Change Institution', 'Change Registration', 'Change Sign-in of members', 'Change Screening'],
  ...['Change harbor-app', 'End all secrets', 'Register an identity provider', 'Remove', 'Erase the person'],
  ...['Verify the hashes', 'Send a test event'],
  ...['Try it', 'End the exception', 'Open or close a day'],
  ...['Pause', 'Send again', 'Replay the last day', 'Replay the parked'],
]);

/** At 200 % zoom a window of 1,280 pixels has 640; 320 are WCAG 1.4.10's. */
const zooms = { '200 % zoom': { width: 640, height: 400 }, '320 pixels': { width: 320, height: 568 } };

export async function walkRole(browser: Browser, url: string, role: Role): Promise<void> {
  const { page, faults, origins } = await openPage(browser, {
    viewport: sizes.desktop,
    reducedMotion: 'reduce',
  });
  await signIn(page, url, role.name);
  report(`${role.name}: links`, differences(await linksOf(page), role.links));
  for (const [address, heading] of screens) {
    const isRefused = role.refused.includes(address);
    await page.goto(`${url}/console#/${address}`);
    await page
      .getByRole('heading', { name: isRefused ? 'Not allowed' : heading, level: 1 })
      .first()
      .waitFor();
    await settled(page);
    const acts = differences(await actsOf(page), role.acts[address] ?? []);
    report(`${role.name}: ${address}`, [...acts, ...(await motionFaults(page)), ...(await looksOf(page))]);
  }
  report(`${role.name}: console`, faults);
  report(
    `${role.name}: one origin`,
    [...origins].filter((origin) => origin !== url),
  );
  await page.context().close();
}

/** Dark colors change no element, so that only the contrast is measured again. */
async function looksOf(page: Page): Promise<string[]> {
  const found: string[] = [];
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    for (const [colorScheme, rules] of [
      ['light', undefined],
      ['dark', ['color-contrast']],
    ] as const) {
      await page.emulateMedia({ colorScheme });
      const look = [...(await breachesOf(page, rules)), ...(await layoutFaults(page))];
      found.push(...look.map((fault) => `${colorScheme} ${size}: ${fault}`));
    }
  }
  await page.emulateMedia({ colorScheme: 'light' });
  for (const [name, viewport] of Object.entries(zooms)) {
    await page.setViewportSize(viewport);
    found.push(...(await layoutFaults(page)).map((fault) => `${name}: ${fault}`));
  }
  await page.setViewportSize(sizes.desktop);
  return found;
}

function linksOf(page: Page): Promise<string[]> {
  return page.getByRole('navigation', { name: 'Main' }).getByRole('link').allTextContents();
}

async function actsOf(page: Page): Promise<string[]> {
  const buttons = await page.getByRole('main').getByRole('button').allTextContents();
  // A button of Review names its key too.
  return buttons.map((text) => text.trim().replace(/ [a-z]$/, '')).filter((text) => everyAct.has(text));
}

function differences(shown: readonly string[], expected: readonly string[]): string[] {
  const more = [...new Set(shown)].filter((one) => !expected.includes(one));
  const missing = expected.filter((one) => !shown.includes(one));
  return [...more.map((one) => `shows ${one}`), ...missing.map((one) => `lacks ${one}`)];
}

const pictures = fileURLToPath(new URL('../../docs/pictures/', import.meta.url));
const pictured: readonly Address[] = [
  'today',
  'review',
  'transfers/walk-1',
  'members/p-1002',
  'ledger',
  'breaks',
  'breaks/1',
];

/** The pictures of README and docs. */
export async function takePictures(browser: Browser, url: string, now: Date): Promise<void> {
  await mkdir(pictures, { recursive: true });
  const { page } = await openPage(browser, { viewport: sizes.desktop, reducedMotion: 'reduce' });
  await page.clock.setFixedTime(now);
  await signIn(page, url, 'Demo approver');
  for (const address of pictured) {
    for (const colorScheme of ['light', 'dark'] as const) {
      if (colorScheme === 'dark' && /^(transfers|members)/.test(address)) continue;
      await page.emulateMedia({ colorScheme });
      await page.goto(`${url}/console#/${address}`);
      await page.reload();
      await settled(page);
      const name = address === 'breaks/1' ? 'break' : address.split('/')[0];
      await page.screenshot({
        path: `${pictures}console-${name}-${colorScheme}.png`,
        fullPage: address === 'ledger',
      });
    }
  }
  await page.context().close();
}
