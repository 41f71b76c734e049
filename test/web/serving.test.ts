import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { stripTypeScriptTypes } from 'node:module';
import { after, describe, it } from 'node:test';
import { startEdge } from '../http/fake-services.ts';

const edge = await startEdge();
after(() => edge.close());

const hostile = ['%3Cscript%3E', 'a%22b', "a'b", '..%2f..%2fpackage.json', 'ä', 'a'.repeat(129)];

/** The addresses in the document: the files under /web/, and others. */
function addressesIn(text: string): string[] {
  return [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address = '']) => address);
}

describe('the document of the member’s app', () => {
  it('the address without a client leads to the app of the setting', async () => {
    const page = await edge.client.get('/app');
    assert.equal(page.status, 302);
    assert.equal(page.headers.get('location'), '/app/demo-web');
  });

  it('a document of a browser application loads files of its own origin only, and has no script or style in it', async () => {
    for (const path of ['/app/demo-web', '/console', '/web/design']) {
      const { text, headers, status } = await edge.client.get(path);
      assert.equal(status, 200);
      assert.equal(headers.get('cache-control'), 'no-cache');
      assert.equal(headers.get('set-cookie'), null);
      for (const address of addressesIn(text)) assert.match(address, /^\/(?!\/)/);
      assert.doesNotMatch(text, /<style|\sstyle=|\son\w+=/i);
      const scripts = [...text.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)];
      assert.deepEqual(
        scripts.map(([, , inside]) => inside === ''),
        [false, true],
      );
      const [, attributes, map = ''] = scripts[0] ?? [];
      assert.equal(attributes, ' type="importmap"');
      const policy = headers.get('content-security-policy') ?? '';
      const hash = createHash('sha256').update(map).digest('base64');
      assert.ok(policy.includes(`script-src 'self' 'sha256-${hash}';`));
      assert.ok(policy.includes("style-src 'self';"));
      assert.ok(policy.includes("frame-ancestors 'none'"));
      assert.ok(policy.includes("require-trusted-types-for 'script'"));
      assert.doesNotMatch(policy, /unsafe|https?:|\*/);
    }
  });

  it('a service over https has no page of components', async () => {
    await using secure = await startEdge({}, { publicUrl: 'https://bank.example' });
    assert.equal((await secure.client.get('/console')).status, 200);
    assert.equal((await secure.client.get('/web/design')).status, 404);
  });

  it('a client id that no client can have gets 404, and no document repeats it', async () => {
    for (const id of hostile) {
      for (const path of [`/app/${id}`, `/app/${id}/manifest.webmanifest`]) {
        const { status, body, text } = await edge.client.get(path);
        assert.equal(status, 404, path);
        assert.equal(body.code, 'path_not_found');
        assert.ok(!text.includes('<'), path);
      }
    }
  });

  it('the manifest installs the app of its own client', async () => {
    const { headers, text } = await edge.client.get('/app/meadow-web/manifest.webmanifest');
    assert.equal(headers.get('content-type'), 'application/manifest+json; charset=utf-8');
    const manifest = JSON.parse(text);
    assert.equal(manifest.start_url, '/app/meadow-web');
    assert.equal(manifest.scope, '/app/meadow-web');
  });
});

describe('the files of the browser applications', () => {
  it('each file of a document, and each import of each module, is served without types', async () => {
    const seen = new Set<string>();
    const visit = async (address: string, imports: Readonly<Record<string, string>>): Promise<void> => {
      if (seen.has(address)) return;
      seen.add(address);
      const { status, headers, text } = await edge.client.get(address);
      assert.equal(status, 200, address);
      assert.equal(headers.get('cache-control'), 'public, max-age=31536000, immutable');
      assert.equal(headers.get('x-content-type-options'), 'nosniff');
      if (!/\.[jt]s$/.test(address)) return;
      assert.equal(headers.get('content-type'), 'text/javascript; charset=utf-8');
      if (address.endsWith('.ts')) assert.equal(stripTypeScriptTypes(text), text, address);
      for (const [, name = ''] of text.matchAll(/\b(?:import|from)\s*\(?['"]([^'" ]+)['"]/g)) {
        const target = name.startsWith('.') ? new URL(name, `http://edge${address}`).pathname : imports[name];
        assert.ok(target, `${address} imports ${name}`);
        await visit(target, imports);
      }
    };
    for (const path of ['/app/demo-web', '/console', '/web/design']) {
      const { text } = await edge.client.get(path);
      const [, map = '{}'] = /<script type="importmap">(.*?)<\/script>/.exec(text) ?? [];
      const { imports } = JSON.parse(map);
      const files = addressesIn(text).filter((address) => address.startsWith('/web/'));
      assert.ok(files.length > 12);
      for (const address of [...files, ...(Object.values(imports) as string[])])
        await visit(address, imports);
    }
  });

  it('a document names the modules of its first view, and screens of the console load when they are opened', async () => {
    const namesOf = async (path: string) =>
      addressesIn((await edge.client.get(path)).text).map((address) => address.split('/').slice(3).join('/'));
    const ofConsole = await namesOf('/console');
    const screens = ofConsole.filter((name) => name.startsWith('web/console/screens/'));
    assert.deepEqual(screens, ['web/console/screens/today.ts']);
    for (const name of [
      'web/console/shell.ts',
      'web/common/rows.ts',
      'packages/signals-core.js',
      'packages/preact-hooks.js',
    ])
      assert.ok(ofConsole.includes(name), name);
    assert.ok(ofConsole.every((name) => !/^web\/(app|showcase)|^client/.test(name)));
    // The app is a fifth larger for its screens, and its worker keeps them for a phone without a network. Few open the choice of alerts.
    const ofApp = await namesOf('/app/demo-web');
    assert.ok(ofApp.includes('web/app/screens/alerts/alerts.ts'));
    assert.ok(!ofApp.includes('web/app/screens/alerts/preferences.ts'));
    assert.ok(ofApp.includes('client/src/transport.ts'));
  });

  it('a compressed file has the bytes of the plain one', async () => {
    const { text } = await edge.client.get('/app/demo-web');
    const sheet = addressesIn(text).find((address) => address.endsWith('tokens.css')) ?? '';
    const plain = await edge.client.get(sheet, { headers: { 'accept-encoding': 'identity' } });
    const zipped = await edge.client.get(sheet, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(plain.headers.get('content-encoding'), null);
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    assert.equal(zipped.text, plain.text);
    assert.match(zipped.headers.get('vary') ?? '', /Accept-Encoding/);
  });

  it('no other path below /web/ leads to a file', async () => {
    const { text } = await edge.client.get('/app/demo-web');
    const [, version = ''] = /\/web\/([^/]+)\/web\/app\/main\.ts/.exec(text) ?? [];
    assert.match(version, /^[\w-]{16}$/);
    const wrong = [
      '/web/',
      `/web/${version}`,
      `/web/${version}/`,
      `/web/${version}/web`,
      `/web/${version}/web/`,
      `/web/${version}/web/tsconfig.json`,
      `/web/${version}/package.json`,
      `/web/${version}/src/main.ts`,
      `/web/${version}/..%2f..%2fpackage.json`,
      `/web/${version}/web/app/..%2f..%2f..%2fpackage.json`,
      `/web/${version}/%2e%2e/package.json`,
      `/web/${version}/web/app/main.ts%00`,
      `/web/${version}/${version}/web/app/main.ts`,
      `/web/x${version}/web/app/main.ts`,
      '/web/AAAAAAAAAAAAAAAA/web/app/main.ts',
      '/web/__proto__/web/app/main.ts',
    ];
    for (const path of wrong) {
      const { status, body } = await edge.client.get(path);
      assert.equal(status, 404, path);
      assert.equal(body.code, 'path_not_found', path);
    }
  });

  it('the worker of the app names the version of the files, and may rule the app only', async () => {
    const { text: page } = await edge.client.get('/app/demo-web');
    const { headers, text } = await edge.client.get('/app/worker.js');
    const [, version = ''] = /^const version = '([\w-]+)';/.exec(text) ?? [];
    assert.ok(page.includes(`/web/${version}/`));
    assert.equal(headers.get('service-worker-allowed'), '/app/');
    assert.equal(headers.get('cache-control'), 'no-cache');
    assert.equal(stripTypeScriptTypes(text), text);
  });
});
