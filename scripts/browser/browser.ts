// A real browser for the scripts that walk pages: playwright-core with the Chromium of the machine.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const places = [
  process.env.CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
];

/** Undefined, with a word for the person at the terminal, if the machine has no Chromium. */
export async function openBrowser(): Promise<Browser | undefined> {
  const executablePath = places.find((place) => place !== undefined && existsSync(place));
  if (executablePath === undefined) {
    process.stdout.write('skip: no Chromium found. Install it (apt-get install chromium) or set CHROMIUM.\n');
    return undefined;
  }
  // The sandbox of Chromium does not start for root, as in a container.
  const args = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
  return chromium.launch({ executablePath, args });
}

export const sizes = {
  phone: { width: 390, height: 844 },
  desktop: { width: 1280, height: 800 },
} as const;

export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console, among them each breach of a content security policy, and of scripts. */
  readonly faults: string[];
  /** Origins of all requests. */
  readonly origins: Set<string>;
}

/** A page in a browser profile of its own. Language and time zone are fixed, so that pictures are the same on each machine. */
export async function openPage(browser: Browser, options: BrowserContextOptions = {}): Promise<WatchedPage> {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'America/Chicago', ...options });
  const page = await context.newPage();
  const faults: string[] = [];
  const origins = new Set<string>();
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`${page.url()}: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`${page.url()}: ${error.message}`));
  page.on('request', (request) => origins.add(new URL(request.url()).origin));
  return { page, faults, origins };
}

/** Breaches of WCAG 2.2 AA, or of these rules, that axe-core finds on the page as it stands, and a page that is wider than its window. */
export async function breachesOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  // The policy of the page allows no script that a test adds; the debugger is not bound by it.
  const evaluate = async (expression: string) => {
    const { result, exceptionDetails } = await session.send('Runtime.evaluate', {
      expression,
      awaitPromise: true,
      returnByValue: true,
      allowUnsafeEvalBlockedByCSP: true,
    });
    if (exceptionDetails !== undefined)
      throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  };
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
  const runOnly = JSON.stringify(rules ? { type: 'rule', values: rules } : { type: 'tag', values: tags });
  if (await evaluate('typeof axe === "undefined"')) await evaluate(`${axe};0`);
  const found: string[] = await evaluate(`axe.run(document, { runOnly: ${runOnly} }).then(({ violations }) =>
    violations.flatMap(({ id, help, nodes }) => nodes.map((node) => id + ': ' + help + ' ' + node.html.slice(0, 200))))`);
  const isWide = await evaluate('document.documentElement.scrollWidth > innerWidth + 1');
  // The session stays attached: the end of one would remove the page's virtual authenticators.
  return isWide ? [...found, 'the page scrolls sideways'] : found;
}

/** Moves with Tab until the focus is on an element of this role and name, and presses the key there. */
export async function pressOn(
  page: Page,
  [role, name]: readonly [string, string | RegExp],
  key = 'Enter',
): Promise<void> {
  const wanted = page.getByRole(role as 'button', { name }).first();
  await wanted.waitFor();
  for (let presses = 0; presses < 80; presses += 1) {
    if (await wanted.evaluate((element) => element.matches(':focus'))) return page.keyboard.press(key);
    await page.keyboard.press('Tab');
  }
  throw new Error(`the keyboard does not reach ${role} ${name}`);
}
