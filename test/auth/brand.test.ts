import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, before, test } from 'node:test';
import { operatorOf, type TestOperator } from '../support/operators.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { authorizeUrl, pkce, TestBrowser } from '../support/sign-in.ts';

/* The name, the color and the logo of an institution on the pages on which its members sign in. */

let service: TestService;
let administrator: TestOperator;
before(async () => {
  service = await startTestService({ environment: { PUBLIC_URL: 'http://localhost' } });
  administrator = await operatorOf(service, 'Demo administrator');
});
after(() => service.close());

/** One pixel. */
const logo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const hash = createHash('sha256').update(logo).digest('hex');
const change = (settings: object) =>
  administrator.send('PATCH', '/institution', { reason: 'our colors', ...settings });

async function signInPage() {
  const browser = new TestBrowser(service.address);
  const asked = { client_id: 'demo-budget', response_type: 'code', redirect_uri: 'http://127.0.0.1/' };
  const page = await browser.get(
    authorizeUrl({
      ...{ ...asked, scope: 'openid' },
      ...{ code_challenge: pkce().challenge, code_challenge_method: 'S256' },
    }),
  );
  assert.equal(page.title, 'Sign in', page.text);
  return page;
}

const at = (path: string) => fetch(service.address + path);
const lastChange = async () => {
  const [row] = await service.db.superuser<{ before_change: object; after_change: object }>(
    `select before_change, after_change from audit_entries where action = 'institution.changed' order by audit_key desc limit 1`,
  );
  return row;
};

test('pages have the name and the color of the service until an administrator chooses another', async () => {
  const page = await signInPage();
  assert.match(page.text, /<p class="brand">Lakeside [^<]+<\/p>/);
  assert.doesNotMatch(page.text, /brands|logos/);
});

test('a color is on the next page, by a style sheet of the service itself', async () => {
  const changed = await change({ brandColor: '#7a0019' });
  assert.deepEqual(changed.body.after, { brandColor: '#7a0019' });
  const page = await signInPage();
  const [, path = ''] = /<link rel="stylesheet" href="(\/auth\/v2\/brands\/[^"]+)">/.exec(page.text) ?? [];
  assert.match(page.headers.get('content-security-policy') ?? '', /style-src 'self'; img-src 'self'/);
  const style = await at(path);
  assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
  assert.match(style.headers.get('cache-control') ?? '', /immutable/);
  const css = await style.text();
  assert.match(css, /^:root \{ --accent: #7a0019; --on-accent: #fff; \}/);
  assert.match(css, /prefers-color-scheme: dark/);
  const pages = await (await at('/auth/v2/pages.css')).text();
  assert.match(
    pages,
    /--page: #0e1318; --card: #182028;/,
    'the colors of the dark that contrast is computed with',
  );
  assert.ok(page.text.indexOf(path) > page.text.indexOf('pages.css'), 'behind the style that it changes');
});

test('a logo stands in place of the name, which it has as its text, and is kept by browsers for ever', async () => {
  const changed = await change({ logo: logo.toString('base64') });
  assert.deepEqual(changed.body.after, { logoHash: hash });
  assert.deepEqual(await lastChange(), {
    before_change: { logoHash: null },
    after_change: { logoHash: hash },
  });
  const page = await signInPage();
  const [, path = ''] = /<img src="([^"]+)" alt="Lakeside [^"]+">/.exec(page.text) ?? [];
  assert.equal(path, `/auth/v2/logos/${hash}.png?client_id=demo-budget`, 'the client leads to the cell');
  const image = await at(path);
  assert.deepEqual(Buffer.from(await image.arrayBuffer()), logo);
  assert.equal(image.headers.get('content-type'), 'image/png');
  assert.equal(image.headers.get('x-content-type-options'), 'nosniff');
  assert.equal((await change({ logo: logo.toString('base64') })).body.after.logoHash, undefined, 'unchanged');
});

test('the console has the logo and a style sheet with the color', async () => {
  const { logoUrl, styleUrl } = (await administrator.get('/session')).body.institution;
  assert.equal(logoUrl, `/auth/v2/logos/${hash}.png`);
  assert.deepEqual(Buffer.from(await (await at(logoUrl)).arrayBuffer()), logo);
  const style = await at(styleUrl);
  assert.equal(style.headers.get('content-type'), 'text/css; charset=utf-8');
  assert.match(await style.text(), /--accent: light-dark\(#7a0019, #[0-9a-f]{6}\);/);
  const other = (await (await operatorOf(service, 'Demo teller', 'harbor')).get('/session')).body;
  assert.equal(other.institution.logoUrl, null, 'another institution has neither');
  assert.equal(other.institution.styleUrl, null);
});

test('the page of an invitation has the logo and the color', async () => {
  const asked = { name: 'New Teller', email: 'teller@lakeside.example', roles: ['teller'], reason: 'new' };
  const { code } = (await administrator.post('/operators', asked)).body;
  const page = await new TestBrowser(service.address).post('/operations/invitation', {
    institution: 'lakeside',
    code,
  });
  assert.match(page.text, new RegExp(`<img src="/auth/v2/logos/${hash}\\.png" alt="Lakeside [^"]+">`));
  assert.match(page.text, /<link rel="stylesheet" href="\/auth\/v2\/brands\/7a0019\.css">/);
});

test('the service refuses a color that is hard to read and an image that is no PNG, and says why', async () => {
  const before = (await administrator.get('/institution')).body;
  const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
  const large = Buffer.concat([logo, Buffer.alloc(32_769 - logo.length)]);
  const refused: [settings: object, detail: RegExp][] = [
    [{ brandColor: '#f2c200' }, /contrast of 4\.5/],
    [{ brandColor: '#7A0019' }, /brandColor/],
    [{ brandColor: 'red' }, /brandColor/],
    [{ brandColor: '#000;}' }, /brandColor/],
    [{ logo: svg.toString('base64') }, /PNG of at most 32 KiB/],
    [{ logo: large.toString('base64') }, /logo/],
    [{ logo: '' }, /PNG/],
    [{ logo: logo.toString('base64').replace(/=+$/, '') }, /base64/],
    [{ logo: 'not base64' }, /base64/],
    [{ logo: 7 }, /logo/],
  ];
  for (const [settings, detail] of refused) {
    const { status, body } = await change(settings);
    assert.equal(status, 400, JSON.stringify(settings));
    assert.match(JSON.stringify(body), detail);
  }
  assert.deepEqual((await administrator.get('/institution')).body, before);
});

test('only an administrator may change them', async () => {
  const teller = await operatorOf(service, 'Demo teller');
  const { status } = await teller.send('PATCH', '/institution', { reason: 'x', brandColor: '#000000' });
  assert.equal(status, 403);
});

test('other addresses of colors and logos lead nowhere', async () => {
  for (const path of [
    '/auth/v2/brands/7A0019.css',
    '/auth/v2/brands/7a0019',
    '/auth/v2/brands/7a0019.css.css',
    '/auth/v2/brands/7a0019-app.css',
    '/auth/v2/brands/%3B%7D.css',
    '/auth/v2/logos/',
    `/auth/v2/logos/${hash}`,
    `/auth/v2/logos/${'0'.repeat(64)}.png`,
    `/auth/v2/logos/${hash.toUpperCase()}.png`,
    '/auth/v2/logos/..%2F..%2Fpages.css',
  ])
    assert.equal((await at(path)).status, 404, path);
});

test('the database refuses what the service refuses', async () => {
  const set = (what: string) =>
    service.db.superuser(`update institutions set ${what} where code = 'lakeside'`);
  await assert.rejects(set(`brand_color = '#7A0019'`), /institutions_brand_color/);
  await assert.rejects(set(`brand_color = '#fff;}'`), /institutions_brand_color/);
  const store = (image: string) => set(`logo = ${image}, logo_hash = encode(sha256(${image}), 'hex')`);
  const png = `'\\x89504e470d0a1a0a'::bytea`;
  await assert.rejects(store(`'GIF89a..'::bytea`), /institutions_logo_is_png/);
  await assert.rejects(
    store(`(${png} || convert_to(repeat('x', 32761), 'UTF8'))`),
    /institutions_logo_is_png/,
  );
  await assert.rejects(set(`logo_hash = null`), /institutions_logo_hash/);
  await assert.rejects(set(`logo_hash = '${'0'.repeat(64)}'`), /institutions_logo_hash/);
});

test('null takes the logo and the color away', async () => {
  const { body } = await change({ brandColor: null, logo: null });
  assert.deepEqual(body.after, { brandColor: null, logoHash: null });
  assert.match((await signInPage()).text, /<p class="brand">Lakeside [^<]+<\/p>/);
  assert.equal((await at(`/auth/v2/logos/${hash}.png`)).status, 404);
});
