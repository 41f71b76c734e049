// The member's side of a sign-in: a browser without scripts that signs in, allows, and confirms a logout. The client programs reach it over
// HTTP, as a program opens a browser: GET /<browser>?url=<address>.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { TestBrowser, type TestPage } from '../../test/support/sign-in.ts';

const credentials = { username: 'demo.member', password: 'demo-member-password' };
/** A page of sign-in, one of consent and two redirects are the longest way. */
const mostSteps = 6;

export interface Member extends AsyncDisposable {
  readonly url: string;
}

/** Each path is a browser of its own, with its own cookies. */
export async function startMember(issuer: string): Promise<Member> {
  // The demo sends browsers to this name, since an address is no name for a passkey.
  const pages = issuer.replace('127.0.0.1', 'localhost');
  const browsers = new Map<string, TestBrowser>();
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://member');
    const browser = browsers.get(pathname) ?? new TestBrowser(pages);
    browsers.set(pathname, browser);
    visit(browser, pages, searchParams.get('url') ?? '').then(
      (end) => response.end(end),
      (error: Error) => response.writeHead(500).end(error.message),
    );
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const end = async () => {
    server.closeAllConnections();
    server.close();
    await once(server, 'close');
  };
  return { url: `http://127.0.0.1:${port}`, [Symbol.asyncDispose]: end };
}

/** The address at which the visit ends: of the app, or the title of a page of the service. A loopback address is called, as a browser does. */
async function visit(browser: TestBrowser, pages: string, address: string): Promise<string> {
  let page = await browser.get(pathOf(new URL(address)));
  for (let steps = 0; steps < mostSteps; steps += 1) {
    const next = page.headers.get('location');
    if (next === null) {
      if (page.request === '') return page.title;
      page = await fillIn(browser, page);
      continue;
    }
    const url = new URL(next, pages);
    if (url.origin !== pages) {
      if (url.protocol === 'http:') await fetch(url);
      return next;
    }
    page = await browser.get(pathOf(url));
  }
  throw new Error(`the pages do not end: ${page.title}`);
}

function fillIn(browser: TestBrowser, { request, title, text }: TestPage): Promise<TestPage> {
  const hasPassword = text.includes('name="password"');
  if (hasPassword) return browser.post('/auth/v2/sign-in', { request, ...credentials });
  if (title.startsWith('Allow')) {
    return browser.post('/auth/v2/consent', { request, days: '30', answer: 'allow', accounts: 'all' });
  }
  throw new Error(`an unknown page: ${title}`);
}

function pathOf({ pathname, search }: URL): string {
  return pathname + search;
}
