import { rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { openPage } from './browser.ts';
import type { DemoService } from './service.ts';

const color = '#1c3f94';
const logo = `<svg xmlns="http://www.w3.org/2000/svg" width="256" height="64" viewBox="8 0 256 64">
<g fill="${color}"><path d="M8 30 32 10l24 20v6H8Z"/><path d="M8 42q6-5 12 0t12 0 12 0 12 0v5q-6 5-12 0t-12 0-12 0-12 0ZM8 53q6-5 12 0t12 0 12 0 12 0v5q-6 5-12 0t-12 0-12 0-12 0Z"/>
<text x="70" y="32" font-family="DejaVu Sans, sans-serif" font-size="27" font-weight="700">Lakeside</text>
<text x="71" y="54" font-family="DejaVu Sans, sans-serif" font-size="16.5">Credit Union</text></g></svg>`;

/** Gives the demo's institution a color and a logo, as its administrators would. */
export async function brand(browser: Browser, { run }: DemoService): Promise<void> {
  const { page } = await openPage(browser, { deviceScaleFactor: 2 });
  await page.setContent(logo);
  const image = await page.locator('svg').screenshot({ omitBackground: true });
  await page.context().close();
  const file = path.join(tmpdir(), `logo-${process.pid}.png`);
  await writeFile(file, image);
  const settings = ['--brand-color', color, '--logo', file, '--reason', 'our colors'];
  await run('institution', 'settings', 'lakeside', ...settings);
  await rm(file);
}
