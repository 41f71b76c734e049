// Figures of the console in a real browser, against a demo of its own: npx node scripts/browser/figures-console.ts [--consoles 100] [--seconds 60]
//
// Prints the first view, an interaction, the tasks while a long ledger scrolls, the slope of the heap under live updates, and the service's cost
// of open consoles. It counts requests and statements, so that it holds whether the console asks or is told of news.
import { parseArgs } from 'node:util';
import type { Browser, BrowserContextOptions, CDPSession, Page } from 'playwright-core';
import { startDemoService } from '../../bench/demo-service.ts';
import { cpuSeconds } from '../../bench/meters.ts';
import { openBrowser, openPage, sizes } from './browser.ts';
import { settled, signIn } from './console-page.ts';

const { values } = parseArgs({
  options: {
    consoles: { type: 'string', default: '100' },
    seconds: { type: 'string', default: '60' },
    port: { type: 'string', default: '8391' },
  },
});
const seconds = Number(values.seconds);
const port = Number(values.port);
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
async function scrolling(browser: Browser, url: string): Promise<void> {
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
  for (let turn = 0; turn < scrolls; turn += 1) {
    await page.mouse.wheel(0, 3_000);
    await sleep(100);
  }
  const tasks = (await page.evaluate('self.tasks')) as number[];
  const rows = await page.locator('tbody tr').count();
  say(
    `scrolling: ${tasks.length} tasks over 50 ms, the longest ${Math.round(Math.max(0, ...tasks))} ms; ${loaded} rows were loaded, ${rows} drawn at the end`,
  );
  await page.context().close();
}

/** The heap after a collection, at the beginning and at the end of the time. */
async function heapSlope(browser: Browser, url: string): Promise<void> {
  const { page } = await openPage(browser, { viewport: sizes.desktop });
  await signIn(page, url, 'Demo approver');
  const session = await page.context().newCDPSession(page);
  await sleep(15_000);
  const before = await heapOf(session);
  const started = performance.now();
  await sleep(seconds * 1_000);
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

/** One page of Today in each of so many browser profiles, since a profile shares its connections. */
async function openConsoles(browser: Browser, url: string, pid: number): Promise<void> {
  const first = await openPage(browser);
  await signIn(first.page, url, 'Demo viewer');
  const storageState = (await first.page.context().storageState()) as NonNullable<
    BrowserContextOptions['storageState']
  >;
  const pages: Page[] = [];
  let requests = 0;
  const idle = await costOf(pid, seconds);
  for (let index = 0; index < Number(values.consoles); index += 1) {
    const { page } = await openPage(browser, { storageState });
    page.on('request', () => {
      requests += 1;
    });
    await page.goto(`${url}/console#/today`);
    await settled(page);
    pages.push(page);
  }
  requests = 0;
  const busy = await costOf(pid, seconds);
  say(
    `${pages.length} open consoles, ${seconds} s: service ${percent(busy.cpu)} of a core (${percent(idle.cpu)} without), ` +
      `${busy.statements.toFixed(1)} statements a second (${idle.statements.toFixed(1)} without), ${(requests / seconds).toFixed(1)} requests a second`,
  );
  for (const page of pages) await page.context().close();
  await first.page.context().close();
}

async function costOf(
  pid: number,
  duration: number,
): Promise<{ readonly cpu: number; readonly statements: number }> {
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

function percent(share: number): string {
  return `${(share * 100).toFixed(1)} %`;
}

const browser = await openBrowser();
if (browser !== undefined) {
  await using demo = await startDemoService(port, 1, { METRICS_PORT: String(port + 1), DEMO_CORE: 'false' });
  await firstView(browser, demo.url);
  await interaction(browser, demo.url);
  await scrolling(browser, demo.url);
  await heapSlope(browser, demo.url);
  await openConsoles(browser, demo.url, demo.pid);
  await browser.close();
}
