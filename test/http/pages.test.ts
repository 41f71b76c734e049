import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { runInNewContext } from 'node:vm';
import { pages } from '../../src/http/pages/pages.ts';
import { problemCodes, problemKinds } from '../../src/http/problems.ts';
import { openApiDocument, pointer, schemaChecker } from '../support/contract.ts';
import { startEdge } from './fake-services.ts';

const folder = new URL('../../docs/problems/', import.meta.url);

describe('the page of a problem', () => {
  it('a problem page exists for every code, and for nothing else', () => {
    const files = readdirSync(folder).filter((name) => name.endsWith('.md'));
    assert.deepEqual(files.toSorted(), problemCodes.map((code) => `${code}.md`).toSorted());
  });

  it('a problem page has the title and status of the table, all its parts, and an example from the contract', () => {
    const check = schemaChecker(openApiDocument);
    for (const code of problemCodes) {
      const text = readFileSync(new URL(`${code}.md`, folder), 'utf8');
      const { status, title, detail } = problemKinds[code];
      assert.ok(text.startsWith(`# ${title}\n\n\`${code}\`, status ${status}\n`), code);
      const headings = [...text.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
      assert.deepEqual(headings, ['Causes', 'Next step', 'Example'], code);
      const example = JSON.parse(/```json\n(.*?)```/s.exec(text)?.[1] ?? '');
      assert.equal(check(pointer('components', 'schemas', 'Problem'), example), true, code);
      assert.deepEqual(
        { type: example.type, title: example.title, status: example.status, code: example.code },
        { type: `/problems/${code}`, title, status, code },
      );
      if (detail !== undefined) assert.equal(example.detail, detail);
    }
  });

  it('a problem page opens at the type of the problem, as text without scripts', async () => {
    await using edge = await startEdge();
    const problem = await edge.client.get('/nowhere');
    const page = await edge.client.get(problem.body.type);
    assert.equal(page.status, 200);
    assert.equal(page.headers.get('content-type'), 'text/html; charset=utf-8');
    assert.match(page.text, /<h1>Path not found<\/h1>/);
    assert.doesNotMatch(page.text, /<script/);
    assert.doesNotMatch(page.headers.get('content-security-policy') ?? '', /unsafe|script-src/);
  });

  it('the list of all problems links to each problem page', async () => {
    await using edge = await startEdge();
    const { text } = await edge.client.get('/problems');
    for (const code of problemCodes) assert.ok(text.includes(`href="/problems/${code}"`), code);
    assert.equal((await edge.client.get('/problems/no_such_code')).body.code, 'path_not_found');
  });
});

describe('the reference page', () => {
  it('the reference page loads nothing from elsewhere, and its policy forbids it', async () => {
    await using edge = await startEdge();
    const page = await edge.client.get('/docs');
    assert.equal(page.status, 200);
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, url = '']) => url);
    assert.deepEqual(sources, ['/docs/scalar.js']);
    assert.doesNotMatch(page.text, /https?:\/\//);
    const policy = page.headers.get('content-security-policy') ?? '';
    assert.match(policy, /default-src 'none'; script-src 'self' 'sha256-[A-Za-z0-9+/]{43}='; /);
    assert.match(policy, /connect-src 'self'/);
    assert.doesNotMatch(policy, /https?:|\*|unsafe-eval/);
  });

  it('the reference page has its script here, compressed for clients that accept it', async () => {
    await using edge = await startEdge();
    const zipped = await fetch(`${edge.address}/docs/scalar.js`, { headers: { 'accept-encoding': 'gzip' } });
    assert.equal(zipped.headers.get('content-encoding'), 'gzip');
    const plain = await fetch(`${edge.address}/docs/scalar.js`, {
      headers: { 'accept-encoding': 'identity' },
    });
    assert.equal(plain.headers.get('content-encoding'), null);
    const refused = await fetch(`${edge.address}/docs/scalar.js`, {
      headers: { 'accept-encoding': 'br, gzip;q=0, identity' },
    });
    assert.equal(refused.headers.get('content-encoding'), null);
    await refused.body?.cancel();
    assert.equal(await zipped.text(), await plain.text());
  });

  it('the reference page sends its token to every operation that takes one, and never beside client credentials', async () => {
    await using edge = await startEdge();
    const { text } = await edge.client.get('/docs');
    const [, inline = ''] = /<script type="text\/javascript">(.*?)<\/script>/s.exec(text) ?? [];
    // biome-ignore lint/suspicious/noExplicitAny: the data of the page's script
    let configuration: any;
    const createApiReference = (_at: string, handed: object) => {
      configuration = handed;
    };
    runInNewContext(inline, { Scalar: { createApiReference } });
    const seen = { sent: 0, kept: 0 };
    for (const [raw, operations] of Object.entries(openApiDocument.paths as Record<string, object>)) {
      for (const { security, requestBody } of Object.values(operations)) {
        const requestBuilder = { path: { raw }, security: ['a token'] };
        await configuration.onBeforeRequest({ requestBuilder });
        if (security.length > 0) {
          assert.deepEqual([...requestBuilder.security], ['a token'], raw);
          seen.sent += 1;
        } else if (requestBody !== undefined) {
          assert.deepEqual([...requestBuilder.security], [], raw);
          seen.kept += 1;
        }
      }
    }
    assert.ok(seen.sent > 10 && seen.kept === 4, JSON.stringify(seen));
  });

  it('the reference page has its document here, the one in the repository', async () => {
    await using edge = await startEdge();
    const { body } = await edge.client.get('/openapi.json');
    const [from, to] = ['http://127.0.0.1:8080', 'http://sharedraft.test'];
    assert.deepEqual(body, JSON.parse(JSON.stringify(openApiDocument).replaceAll(from, to)));
    assert.equal(body.servers[0].url, to);
  });

  it('the reference page has addresses without a host in its own copy, because it may call no other', async () => {
    await using edge = await startEdge();
    const { body } = await edge.client.get('/docs/openapi.json');
    assert.deepEqual(body.servers, [{ url: '/' }]);
    assert.equal(body.components.securitySchemes.oauth2.flows.password.tokenUrl, '/auth/v2/token');
    assert.deepEqual(body.paths, JSON.parse(JSON.stringify(openApiDocument)).paths);
  });
});

describe('the service’s own pages', () => {
  it('serves large pages as one shared buffer, so a client that does not read holds no copy', async () => {
    for (const { path, handle } of pages) {
      if (!['/openapi.json', '/docs/openapi.json', '/docs/scalar.js'].includes(path)) continue;
      const [one, another] = [1, 2].map(() =>
        handle({
          publicUrl: 'https://bank.example',
          appClientId: 'web',
          params: {},
          header: () => undefined,
          findLogo: async () => undefined,
        }),
      );
      const bytes = (await one)?.body;
      assert.ok(bytes instanceof Uint8Array, path);
      assert.equal((await another)?.body, bytes, path);
    }
  });

  it('the root page links to the reference and the problems', async () => {
    await using edge = await startEdge();
    const { text } = await edge.client.get('/');
    for (const path of ['/docs', '/openapi.json', '/problems']) {
      assert.ok(text.includes(`href="${path}"`), path);
      assert.equal((await edge.client.get(path)).status, 200);
    }
  });

  it('readyz is degraded, with the reason, while commits wait', async () => {
    await using edge = await startEdge({ ready: async () => 'commits_wait' });
    const ready = await edge.client.get('/readyz');
    assert.equal(ready.status, 200);
    assert.deepEqual(ready.body, { status: 'degraded', reason: 'commits_wait' });
  });

  it('livez succeeds without a database, and readyz does not', async () => {
    await using edge = await startEdge({
      ready: async () => {
        const { databaseUnavailable } = await import('../../src/storage/index.ts');
        throw databaseUnavailable(new Error('gone'));
      },
    });
    assert.deepEqual((await edge.client.get('/livez')).body, { status: 'live' });
    const ready = await edge.client.get('/readyz');
    assert.equal(ready.status, 503);
    assert.equal(ready.body.code, 'database_unavailable');
  });

  it('version returns the version', async () => {
    await using edge = await startEdge();
    const { name, version } = JSON.parse(
      readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
    );
    assert.deepEqual((await edge.client.get('/version')).body, { name, version });
    assert.deepEqual((await edge.client.get('/readyz')).body, { status: 'ready' });
  });
});
