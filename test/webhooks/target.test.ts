import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import { Sender } from '../../src/webhooks/https/post.ts';
import { mayConnectTo, type TargetRules, targetRefusal } from '../../src/webhooks/https/target.ts';

const bank: TargetRules = { demo: false, ports: [443] };
const demo: TargetRules = { demo: true, ports: [443] };

/** Ways to this machine, to the local network and to the metadata of clouds. */
const inside = [
  'https://127.0.0.1/',
  'https://127.1/',
  'https://2130706433/',
  'https://0x7f.0.0.1/',
  'https://0x7f000001/',
  'https://0177.0.0.1/',
  'https://127.0.0.1./',
  'https://0.0.0.0/',
  'https://0/',
  'https://10.0.0.1/',
  'https://10.255.255.255/',
  'https://172.16.0.1/',
  'https://172.31.255.1/',
  'https://192.168.1.1/',
  'https://169.254.169.254/latest/meta-data/',
  'https://100.64.0.1/',
  'https://192.0.0.1/',
  'https://192.0.2.1/',
  'https://198.18.0.1/',
  'https://198.51.100.7/',
  'https://203.0.113.9/',
  'https://224.0.0.1/',
  'https://255.255.255.255/',
  'https://[::1]/',
  'https://[::]/',
  'https://[0:0:0:0:0:0:0:1]/',
  'https://[::ffff:127.0.0.1]/',
  'https://[::ffff:7f00:1]/',
  'https://[::ffff:10.0.0.1]/',
  'https://[::127.0.0.1]/',
  'https://[fe80::1]/',
  'https://[fc00::1]/',
  'https://[fd12:3456::1]/',
  'https://[ff02::1]/',
  'https://[2001:db8::1]/',
  'https://[2002:7f00:1::]/',
  'https://[64:ff9b::7f00:1]/',
  'https://[64:ff9b:1::a]/',
  'https://[5f00::1]/',
  'https://localhost/',
  'https://LOCALHOST/',
  'https://localhost./',
  'https://db.localhost/',
  'https://postgres/',
  'https://metadata.google.internal/',
  'https://printer.local/',
  'https://router.lan/',
  'https://nas.home.arpa/',
  'https://①②⑦.0.0.1/',
];
for (const url of inside) {
  test(`refuses to send to ${url}`, async () => {
    assert.notEqual(targetRefusal(url, bank), undefined);
    const sender = new Sender(bank);
    const posted = await sender.post({ url, headers: {}, body: '{}' });
    assert.equal(posted.error, 'address_not_allowed');
    assert.deepEqual([posted.status, posted.response], [undefined, '']);
    sender.close();
  });
}

const malformed = {
  'http://hooks.example.com/': 'scheme',
  'ftp://hooks.example.com/': 'scheme',
  'file:///etc/passwd': 'scheme',
  'gopher://hooks.example.com/': 'scheme',
  'https://hooks.example.com:22/': 'port',
  'https://hooks.example.com:5432/': 'port',
  'https://user:password@hooks.example.com/': 'malformed',
  'https://hooks.example.com/#fragment': 'malformed',
  'https://hooks.example.com/a b': 'malformed',
  'not a url': 'malformed',
  '//hooks.example.com/': 'malformed',
};
for (const [url, refusal] of Object.entries(malformed)) {
  test(`refuses ${url} as a target`, () => {
    assert.equal(targetRefusal(url, bank), refusal);
  });
}

test('accepts a public address by https on a listed port', () => {
  assert.equal(targetRefusal('https://hooks.example.com/sharedraft?x=1', bank), undefined);
  assert.equal(targetRefusal('https://hooks.example.com:8443/', { ...bank, ports: [443, 8443] }), undefined);
  assert.equal(mayConnectTo('93.184.216.34', bank), true);
  assert.equal(mayConnectTo('2606:2800:220:1::1', bank), true);
  assert.equal(mayConnectTo('::ffff:93.184.216.34', bank), true);
});

test('lets a demo send to this machine, and to no other machine inside', () => {
  assert.equal(targetRefusal('http://127.0.0.1:9000/', demo), undefined);
  assert.equal(targetRefusal('http://localhost:9000/', demo), undefined);
  assert.equal(targetRefusal('http://10.0.0.1/', demo), 'address');
  assert.equal(targetRefusal('http://169.254.169.254/', demo), 'address');
});

test('refuses a name that resolves to an address inside, at the connection', async () => {
  const answers = [
    [{ address: '127.0.0.1', family: 4 }],
    [
      { address: '93.184.216.34', family: 4 },
      { address: '::1', family: 6 },
    ],
    [],
  ];
  for (const answer of answers) {
    const resolve = (_name: string, _options: object, found: (error: null, addresses: object[]) => void) =>
      found(null, answer);
    const sender = new Sender(bank, { resolve: resolve as never });
    const posted = await sender.post({
      url: 'https://rebound.example.com/',
      headers: {},
      body: '{}',
    });
    assert.equal(posted.error, 'address_not_allowed');
    sender.close();
  }
});

test('follows no redirect, and keeps 256 escaped bytes of a response', async (t) => {
  const server = createServer((request, response) => {
    if (request.url === '/redirect') response.writeHead(302, { location: '/elsewhere' }).end();
    else if (request.url === '/elsewhere') response.writeHead(200).end('reached');
    else response.writeHead(500).end(`<script>\u0000\n${'x'.repeat(100_000)}`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    sender.close();
    server.closeAllConnections();
    server.close();
  });
  const sender = new Sender(demo);
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const post = (path: string) => sender.post({ url: `${base}${path}`, headers: {}, body: '{}' });
  const redirected = await post('/redirect');
  assert.deepEqual([redirected.status, redirected.error], [302, 'status_302']);
  const failed = await post('/');
  assert.equal(failed.error, 'status_500');
  assert.match(failed.response, /^<script>\\x00\\x0ax{246}$/);
});
