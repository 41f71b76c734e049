import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let db: TestDatabase;
let run: ReturnType<typeof commandsOn>;
before(async () => {
  db = await testDatabase();
  run = commandsOn(db);
});
after(() => db.close());

const sharedraft = (...words: string[]) => run('institution', ...words);

async function documents(...words: string[]): Promise<Record<string, unknown>[]> {
  const { code, stdout, stderr } = await sharedraft(...words, '--json');
  assert.equal(code, 0, stderr);
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

const audited = (action: string) =>
  db.superuser<{ before_change: object | null; after_change: object | null; stated_reason: string | null }>(
    'select before_change, after_change, stated_reason from audit_entries where action = $1 order by audit_key',
    [action],
  );

const pine = ['--name', 'Pine Credit Union', '--time-zone', 'America/Denver'];

test('creates an institution that a member can register at, once', async () => {
  const { code, stdout } = await sharedraft(
    'create',
    'pine',
    ...pine,
    '--enrollment',
    'open',
    '--opening-deposit',
    '12.50',
  );
  assert.equal(code, 0);
  assert.match(stdout, /^pine is created/);
  const again = await sharedraft('create', 'pine', ...pine);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /"pine" exists. Change it with `sharedraft institution settings`/);
  assert.deepEqual(await documents('list'), [
    {
      code: 'pine',
      currency: 'USD',
      record: 'ledger',
      demo: false,
      clockAheadSeconds: 0,
      name: 'Pine Credit Union',
      timeZone: 'America/Denver',
      enrollment: 'open',
      passwordMinLength: 15,
      host: null,
      brandColor: null,
      logoHash: null,
      contactChangeMaxAgeSeconds: 0,
      registrationBirthDate: false,
      openingsPerDay: 1000,
      openingDeposit: '12.50',
      openingDepositsPerDay: '1000000.00',
      transferStepUpMaxAgeSeconds: 0,
      transferStepUpAbove: '0.00',
      transferStepUpNewDestination: false,
      transferStepUpPasskey: false,
    },
  ]);
  assert.equal((await audited('institution.created')).length, 1);
  const accounts = await db.superuser<{ account_id: string }>('select account_id from accounts order by 1');
  assert.deepEqual(
    accounts.map((row) => row.account_id),
    ['internal:core-settlement:USD', 'internal:funding:USD', 'internal:suspense:USD'],
  );
});

test('changes only the named settings, and audits them with the reason', async () => {
  const { code, stdout } = await sharedraft(
    ...['settings', 'pine', '--enrollment', 'closed', '--password-min-length', '20'],
    ...['--reason', 'Board decision 12'],
  );
  assert.equal(code, 0);
  assert.match(stdout, /enrollment: open becomes closed\n {2}password-min-length: 15 becomes 20/);
  const [entry, ...others] = await audited('institution.changed');
  assert.deepEqual(others, []);
  assert.deepEqual(entry, {
    before_change: { enrollment: 'open', passwordMinLength: 15 },
    after_change: { enrollment: 'closed', passwordMinLength: 20 },
    stated_reason: 'Board decision 12',
  });
});

test('says that nothing changed when the settings stand already, and audits nothing', async () => {
  const { stdout } = await sharedraft('settings', 'pine', '--enrollment', 'closed');
  assert.match(stdout, /has these settings already/);
  assert.equal((await audited('institution.changed')).length, 1);
});

for (const [words, message] of [
  [['settings', 'pine', '--host', 'localhost'], /A DNS name like bank.example/],
  [['settings', 'pine', '--host', 'bank.example:443'], /A DNS name like bank.example/],
  [['settings', 'pine'], /name at least one setting/],
  [['settings', 'pine', '--password-min-length', '7'], /From 8 to 128/],
  [['settings', 'pine', '--opening-deposit', '1.2.3'], /An amount like 500.00/],
  [['settings', 'pine', '--time-zone', 'Mars/Olympus'], /An IANA time zone/],
  [['create'], /the code of one institution, or a file/],
  [['create', 'Pine', ...pine], /lower-case/],
  [['create', 'oak', '--name', 'Oak'], /--time-zone/],
  [['create', 'oak', ...pine, '--currency', 'XYZ'], /ISO 4217/],
  [['calendar', 'add', '2026-12-24'], /--open or --closed/],
  [['calendar', 'add', '2026-02-30', '--open'], /A day like/],
] as const) {
  test(`sharedraft institution ${words.join(' ')} is wrong usage`, async () => {
    const { code, stderr } = await sharedraft(...words);
    assert.equal(code, 2, stderr);
    assert.match(stderr, message);
  });
}

test('refuses an amount with more decimals than the currency, and an unknown institution', async () => {
  const decimals = await sharedraft('settings', 'pine', '--opening-deposit', '1.234');
  assert.match(decimals.stderr, /at most 2 decimals/);
  const unknown = await sharedraft('show', 'elm');
  assert.match(unknown.stderr, /"elm" does not exist/);
  assert.deepEqual([decimals.code, unknown.code], [1, 1]);
});

test('opens and closes a day against the Federal Reserve, and follows it again', async () => {
  const year = ['--year', '2026'];
  const open = async (day: string) =>
    (await documents('calendar', 'show', ...year)).find((row) => row.day === day)?.open;
  assert.equal(await open('2026-12-25'), false);
  assert.equal(await open('2026-12-24'), undefined);
  await sharedraft('calendar', 'add', '2026-12-24', '--closed');
  await sharedraft('calendar', 'add', '2026-12-25', '--open');
  assert.deepEqual([await open('2026-12-24'), await open('2026-12-25')], [false, true]);
  const second = await sharedraft('calendar', 'add', '2026-12-24', '--closed');
  assert.match(second.stdout, /is closed already. Nothing was changed/);
  await sharedraft('calendar', 'remove', '2026-12-25');
  assert.equal(await open('2026-12-25'), false);
  assert.equal((await audited('transfer.rules_changed')).length, 3);
});

test('creates the institutions of a file, and completes the rest when it is run again', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-institutions-'));
  const file = path.join(folder, 'all.csv');
  const lines = Array.from(
    { length: 5 },
    (_, index) => `cu-${index},Union ${index},USD,America/Chicago,no,open`,
  );
  try {
    await writeFile(
      file,
      ['code,name,currency,time_zone,demo,enrollment', ...lines.slice(0, 2), ''].join('\n'),
    );
    assert.deepEqual(
      (await documents('create', '--from', file)).map((row) => row.outcome),
      ['created', 'created'],
    );
    await writeFile(file, ['code,name,currency,time_zone,demo,enrollment', ...lines, ''].join('\n'));
    assert.deepEqual(
      (await documents('create', '--from', file)).map((row) => row.outcome),
      ['exists', 'exists', 'created', 'created', 'created'],
    );
    await writeFile(file, `code,name,currency,time_zone,demo\nbad code,,USD,Nowhere,no\n`);
    const wrong = await sharedraft('create', '--from', file);
    assert.equal(wrong.code, 1);
    assert.match(wrong.stderr, /all.csv:2: code: expected 2 to 31/);
    assert.match(wrong.stderr, /all.csv:2: time_zone: expected an IANA/);
  } finally {
    await rm(folder, { recursive: true });
  }
});

test('a change of the calendar waits for another system user under dual control', async () => {
  await db.superuser(
    `insert into transfer_policies (institution_id, transfer_type, currency, review_above, second_approval_above, review_seconds,
                                    on_review_timeout, payment_options)
     select institution_id, 'INTRA_FI', 'USD', 100, 200, 3600, 'EXPIRE', '{DEFAULT}' from institutions where code = 'pine'`,
  );
  const change = ['calendar', 'add', '2026-12-31', '--closed', '--institution', 'pine'];
  for (let round = 0; round < 2; round += 1) {
    const { code, stdout } = await sharedraft(...change);
    assert.equal(code, 0);
    assert.match(
      stdout,
      /The change of 2026-12-31 is proposed by .*Another person must run the same command/,
    );
  }
  const named = await sharedraft(...change, '--as', 'Somebody Else');
  assert.match(named.stderr, /--as is for demo institutions/);
  assert.equal((await db.superuser(`select from business_days where day = '2026-12-31'`)).length, 0);
});

async function hostOf(code: string): Promise<string | null> {
  const rows = await db.superuser<{ host: string | null }>('select host from institutions where code = $1', [
    code,
  ]);
  return rows[0]?.host ?? null;
}

test('gives an institution a host name after a confirmation that tells of the passkeys, and takes it back', async () => {
  const asked = await sharedraft('set', 'pine', '--host', 'Pine.Example');
  assert.equal(asked.code, 1);
  assert.match(asked.stderr, /pine is at https:\/\/pine\.example .*passkeys.* Nothing was changed/);
  assert.equal(await hostOf('pine'), null);
  const set = await sharedraft('set', 'pine', '--host', 'Pine.Example', '--yes');
  assert.match(set.stdout, /host: none becomes pine\.example/);
  assert.equal(await hostOf('pine'), 'pine.example');
  const same = await sharedraft('settings', 'pine', '--host', 'pine.example');
  assert.match(same.stdout, /has these settings already/);
  assert.match((await sharedraft('list')).stdout, /pine\.example/);
  const changes = (await audited('institution.changed')).slice(-1);
  assert.deepEqual(changes[0]?.before_change, { host: null });
  assert.deepEqual(changes[0]?.after_change, { host: 'pine.example' });
  await sharedraft('settings', 'pine', '--no-host', '--yes');
  assert.equal(await hostOf('pine'), null);
});

test('gives the pages of an institution a color and a logo, and takes them back', async (context) => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-logo-'));
  context.after(() => rm(folder, { recursive: true }));
  const [image, page] = [path.join(folder, 'logo.png'), path.join(folder, 'page.png')];
  await writeFile(image, Buffer.from('89504e470d0a1a0a00', 'hex'));
  await writeFile(page, '<!doctype html>');
  const set = await sharedraft('set', 'pine', '--brand-color', '#7A0019', '--logo', image);
  assert.match(set.stdout, /brand-color: none becomes #7a0019\n {2}logo: none becomes [0-9a-f]{64}/);
  const refused: [options: string[], status: number, sentence: RegExp][] = [
    [['--brand-color', 'red'], 2, /A color like #0b5d4a/],
    [['--brand-color', '#ffee00'], 1, /Is too light/],
    [['--logo', page], 1, /Must be a PNG of at most 32 KiB/],
    [['--logo', path.join(folder, 'none.png')], 1, /The logo cannot be read: ENOENT/],
  ];
  for (const [options, status, sentence] of refused) {
    const { code, stderr } = await sharedraft('set', 'pine', ...options);
    assert.equal(code, status, stderr);
    assert.match(stderr, sentence);
  }
  const taken = await sharedraft('set', 'pine', '--no-brand-color', '--no-logo', '--json');
  assert.deepEqual(JSON.parse(taken.stdout).after, { brandColor: null, logoHash: null });
});

test('refuses a host name that is taken: by another institution, or as the issuer of a provider', async () => {
  await sharedraft('create', 'yew', '--name', 'Yew', '--time-zone', 'America/Denver');
  const give = (code: string, host: string) => sharedraft('set', code, '--host', host, '--yes');
  assert.equal((await give('yew', 'yew.example')).code, 0);
  const taken = await give('pine', 'yew.example');
  assert.match(taken.stderr, /Another institution has this host name/);
  await db.superuser(
    `insert into provider_directory (issuer, audience, institution_id, provider_id)
     select 'https://login.example', 'a', institution_id, 'p' from institutions where code = 'yew'`,
    [],
  );
  const ofProvider = await give('pine', 'login.example');
  assert.match(ofProvider.stderr, /identity provider is registered with this name/);
  assert.deepEqual([taken.code, ofProvider.code], [1, 1]);
  assert.equal(await hostOf('pine'), null);
});

test('the database refuses a host name that two institutions have, or that is no DNS name', async () => {
  const set = (host: string) => db.superuser(`update institutions set host = $1 where code = 'pine'`, [host]);
  await assert.rejects(set('yew.example'), /institutions_host_is_free/);
  for (const host of [
    'localhost',
    '127.0.0.1',
    'Pine.example',
    'pine.example.',
    'pine.example:443',
    'a b.example',
  ])
    await assert.rejects(set(host), /institutions_host/, host);
});
