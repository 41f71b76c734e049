// Figures of the console in a real browser, against a demo of its own: npx node scripts/browser/figures-console.ts [--consoles 100] [--seconds 60]
//   [--only view,interaction,scrolling,heap,consoles]
//
// Prints the first view, an interaction, the tasks while a long ledger scrolls, the slope of the heap under live updates, and the service's cost
// of open consoles.
import os from 'node:os';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { startDemoService } from '../../bench/demo-service.ts';
import { cpuSeconds } from '../../bench/meters.ts';
import { openBrowser, openPage, sizes } from './browser.ts';
import { order, settled, signIn } from './console-page.ts';

const { values } = parseArgs({
  options: {
    consoles: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    port: { type: 'string', default: '8391' },
    only: { type: 'string' },
  },
});
const seconds = Number(values.seconds);
const port = Number(values.port);
const demoOperators = [
  'Demo viewer',
  'Demo teller',
  'Demo approver',
  'Second demo approver',
  'Demo administrator',
  'Demo auditor',
];
const entries = 1_000_000;
const scrolls = 100;
const say = (line: string) => process.stdout.write(`${line}\n`);
const sleep = (millis: number) => new Promise((resolve) => setTimeout(resolve, millis));

/** With an empty cache, on a processor four times slower. */
async function firstView(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  const session = await page.context().newCDPSession(page);
  await session.send('Network.enable');
  await session.send('Network.clearBrowserCache');
  await session.send('Emulation.setCPUThrottlingRate', { rate: 4 });
  let bytes = 0;
  session.on('Network.loadingFinished', ({ encodedDataLength }) => {
    bytes += encodedDataLength;
  });
  const started = performance.now();
  await page.reload();
  await page.getByRole('region', { name: 'Transfers', exact: true }).waitFor();
  const millis = Math.round(performance.now() - started);
  say(`first view: ${millis} ms at 4x slow-down, ${Math.round(bytes / 1024)} KB transferred`);
  await page.context().close();
}

/** From the press of a key to the next frame after it, in Review: the browser's own Event Timing. */
async function interaction(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  await page.evaluate(`self.slow = []; new PerformanceObserver((list) => self.slow.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'event', durationThreshold: 16 })`);
  for (const name of ['Transfers', 'Ledger', 'Breaks', 'Operators', 'Today']) {
    await page.getByRole('link', { name, exact: true }).first().click();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
    await settled(page);
  }
  const slow = (await page.evaluate('self.slow')) as number[];
  say(`interaction: at most ${Math.max(16, ...slow)} ms for five links of the sidebar`);
  await page.context().close();
}

/** The pages of the ledger come from this script: a task of the browser does not depend on who counted the entries. */
async function scrolling(browser: Browser, url: string, rate: number): Promise<void> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  let loaded = 0;
  await page.route(/\/entries\?/, (route) => {
    loaded += 100;
    const before = Number(new URL(route.request().url()).searchParams.get('after') ?? entries + 1);
    const items = Array.from({ length: 100 }, (_, index) => ({
      ...{ entry: before - 1 - index, at: '2026-11-20T16:04:00Z', kind: 'TRANSFER' },
      ...{
        transferId: `transfer-${before - index}`,
        amount: '-12.34',
        balanceAfter: '4321.00',
        currency: 'USD',
      },
    }));
    const link = `<${url}/entries?after=${before - 100}>; rel="next"`;
    return route.fulfill({ json: items, headers: { link } });
  });
  await page.goto(`${url}/console#/accounts/a-1002-checking`);
  await page.getByRole('cell', { name: String(entries), exact: true }).waitFor();
  await page.evaluate(`self.tasks = []; new PerformanceObserver((list) => self.tasks.push(...list.getEntries().map((one) => one.duration)))
    .observe({ type: 'longtask' })`);
  const session = await page.context().newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  for (let turn = 0; turn < scrolls; turn += 1) {
    await page.mouse.wheel(0, 3_000);
    await sleep(100);
  }
  const tasks = (await page.evaluate('self.tasks')) as number[];
  const rows = await page.locator('tbody tr').count();
  say(
    `scrolling at ${rate}x slow-down: ${tasks.length} tasks over 50 ms, the longest ${Math.round(Math.max(0, ...tasks))} ms; ${loaded} rows were loaded, ${rows} drawn at the end`,
  );
  await page.context().close();
}

/** The heap after a collection, at the beginning and at the end of the time, while a member orders a transfer a second. */
async function heapSlope(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  const session = await page.context().newCDPSession(page);
  await sleep(15_000);
  const before = await heapOf(session);
  const started = performance.now();
  await whileOrdering(url, () => sleep(seconds * 1_000));
  const grown = (await heapOf(session)) - before;
  const minutes = (performance.now() - started) / 60_000;
  say(
    `heap: ${Math.round(grown / 1024 / minutes)} KB a minute over ${minutes.toFixed(1)} minutes of Today, from ${Math.round(before / 1024)} KB`,
  );
  await page.context().close();
}

async function heapOf(session: CDPSession): Promise<number> {
  await session.send('HeapProfiler.collectGarbage');
  return (await session.send('Runtime.getHeapUsage')).usedSize;
}

/** Fewer than an operator may have open. */
const streamsOfOperator = 17;

/**
 * Today in each of so many browser profiles, since a profile shares its connections, for as many operators of the demo as that needs. Each
 * has a stream. The cost without consoles, with them in a quiet bank, and both while a member orders a transfer a second.
 */
async function openConsoles(browser: Browser, url: string, pid: number): Promise<void> {
  const quiet = await costOf(pid, seconds);
  const alone = await whileOrdering(url, () => costOf(pid, seconds));
  const pages: Page[] = [];
  let streams = 0;
  let polls = 0;
  for (const name of demoOperators) {
    const first = await openPage(browser);
    await signIn(first.page, url, name);
    const storageState = (await first.page.context().storageState()) as NonNullable<
      BrowserContextOptions['storageState']
    >;
    await first.page.context().close();
    for (let own = 0; own < streamsOfOperator && pages.length < Number(values.consoles); own += 1) {
      const { page } = await openPage(browser, { storageState });
      page.on('response', (response) => {
        if (/\/today\/stream/.test(response.url()) && response.status() === 200) streams += 1;
      });
      page.on('request', (request) => {
        if (/\/today$/.test(request.url())) polls += 1;
      });
      await page.goto(`${url}/console#/today`);
      await page.getByRole('region', { name: 'Transfers', exact: true }).waitFor();
      pages.push(page);
    }
  }
  await sleep(10_000);
  polls = 0;
  const opened = streams;
  const open = await costOf(pid, seconds);
  const busy = await whileOrdering(url, () => costOf(pid, seconds));
  say(
    `${pages.length} open consoles with ${opened} streams, ${streams - opened} of them opened anew, ${polls} requests for figures beside them, ${seconds} s each:`,
  );
  say(`  in a quiet bank: ${costText(open)}; without consoles: ${costText(quiet)}`);
  say(`  with a transfer a second: ${costText(busy)}; without consoles: ${costText(alone)}`);
  for (const page of pages) await page.context().close();
}

async function whileOrdering<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
  let isOrdering = true;
  const begun = Date.now();
  const ordering = (async () => {
    for (let turn = 0; isOrdering; turn += 1) {
      await order(url, { id: `live-${begun}-${turn}`, amount: 0.01, toAccountId: 'a-1002-savings' });
      await sleep(Math.max(0, begun + (turn + 1) * 1_000 - Date.now()));
    }
  })();
  const result = await work();
  isOrdering = false;
  await ordering;
  return result;
}

interface Cost {
  readonly cpu: number;
  readonly statements: number;
}

function costText({ cpu, statements: each }: Cost): string {
  return `${(cpu * 100).toFixed(1)} % of a core, ${each.toFixed(1)} statements a second`;
}

async function costOf(pid: number, duration: number): Promise<Cost> {
  const read = async () => [(await cpuSeconds(pid, false)) ?? Number.NaN, await statements()] as const;
  const [cpuBefore, before] = await read();
  await sleep(duration * 1_000);
  const [cpuAfter, after] = await read();
  return { cpu: (cpuAfter - cpuBefore) / duration, statements: (after - before) / duration };
}

async function statements(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${port + 1}/metrics`)).text();
  const counts = text.matchAll(/^db_client_operation_duration_seconds_count\{[^}]*\} (\d+)/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

const browser = await openBrowser();
if (browser !== undefined) {
  await using demo = await startDemoService(port, 1, { METRICS_PORT: String(port + 1), DEMO_CORE: 'false' });
  const parts: Readonly<Record<string, () => Promise<void>>> = {
    view: () => firstView(browser, demo.url),
    interaction: () => interaction(browser, demo.url),
    scrolling: async () => {
      for (const rate of [1, 4]) await scrolling(browser, demo.url, rate);
    },
    heap: () => heapSlope(browser, demo.url),
    consoles: () => openConsoles(browser, demo.url, demo.pid),
  };
  for (const name of values.only?.split(',') ?? Object.keys(parts)) {
    await parts[name]?.();
    say(`  load ${os.loadavg()[0]?.toFixed(1)} at ${new Date().toISOString()}`);
  }
  await browser.close();
}
