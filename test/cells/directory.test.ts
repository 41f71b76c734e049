import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import {
  CellDirectory,
  DirectoryRefusedError,
  type OwnCell,
  type Publication,
} from '../../src/cell-directory/index.ts';
import { Problem } from '../../src/shared/problem.ts';
import { seams } from '../../src/shared/seams.ts';
import { type InstitutionId, systemClock } from '../../src/storage/index.ts';
import { testDirectory } from '../support/database.ts';
import { asSuperuser } from '../support/postgres.ts';

/* The directory of cells, with two cells that publish into it at the same time. */

let database: Awaited<ReturnType<typeof testDirectory>>;
let east: CellDirectory;
let west: CellDirectory;
before(async () => {
  database = await testDirectory();
  [east, west] = ['east', 'west'].map(
    (actor) => new CellDirectory({ url: database.url, clock: systemClock, actor }),
  ) as [CellDirectory, CellDirectory];
  await east.register(cell('east', 1), 'http://127.0.0.1:1001');
  await west.register(cell('west', 1001), 'http://127.0.0.1:1002');
});
after(async () => {
  await east.close();
  await west.close();
  await database[Symbol.asyncDispose]();
});

const cell = (name: string, firstNumber: number, change: Partial<OwnCell> = {}): OwnCell => ({
  ...{ name, firstNumber, lastNumber: firstNumber + 998, publicUrl: 'https://bank.example' },
  ...{ program: '1.0.0', schemaVersion: 7, fingerprint: Buffer.alloc(32, 7) },
  ...change,
});
const [lakeside, harbor, meadow] = [1, 1001, 2] as [InstitutionId, InstitutionId, InstitutionId];
const namesOf = (institutionId: InstitutionId, code: string, clientIds: string[] = []): Publication => ({
  institutions: [{ institutionId, code, moves: 0 }],
  hosts: [],
  keys: [],
  clients: clientIds.map((clientId) => ({ institutionId, clientId })),
  providers: [{ institutionId, issuer: `https://${code}.example`, audience: 'bank' }],
});
const rows = <Row extends object>(text: string) =>
  asSuperuser(database.owner, async (client) => (await client.query<Row>(text)).rows);
const refusal = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.catch((cause) => cause);
  assert.ok(error instanceof DirectoryRefusedError || error instanceof Problem, String(error));
  return error.message;
};

test('a cell publishes its names once, and its repeated publications change nothing', async () => {
  const published = await east.publish(cell('east', 1), namesOf(lakeside, 'lakeside', ['app', 'core']));
  assert.deepEqual(published, { changes: 4, conflicts: [], keysOfOthers: [] });
  const again = await east.publish(cell('east', 1), namesOf(lakeside, 'lakeside', ['app', 'core']));
  assert.deepEqual(again, { changes: 0, conflicts: [], keysOfOthers: [] });
  for (const clue of [
    { kind: 'client', clientId: 'app' },
    { kind: 'issuer', issuer: 'https://lakeside.example' },
    { kind: 'institution', institutionId: lakeside },
  ] as const) {
    const place = await west.find(clue);
    assert.deepEqual(place, {
      ...{ institutionId: 1, code: 'lakeside', cell: 'east', moves: 0 },
      ...{ address: 'http://127.0.0.1:1001', state: 'serving' },
    });
  }
  assert.equal(await west.find({ kind: 'client', clientId: 'nobody' }), undefined);
});

test('a client, an issuer and a host of another cell are refused, and nothing is taken from it', async () => {
  const clash = await west.publish(cell('west', 1001), {
    ...namesOf(harbor, 'harbor', ['app']),
    providers: [{ institutionId: harbor, issuer: 'https://lakeside.example', audience: 'bank' }],
  });
  assert.deepEqual(clash.conflicts, [
    'The client id "app" belongs to the institution "lakeside" of the cell "east".',
    'The issuer https://lakeside.example is registered for its audience by the institution "lakeside" of the cell "east".',
  ]);
  assert.match(
    await refusal(west.claim('west', namesOf(harbor, 'harbor', ['app']))),
    /The client id "app" belongs to the institution "lakeside" of the cell "east"/,
  );
  const stolen = await west.publish(cell('west', 1001), namesOf(lakeside, 'lakeside'));
  assert.match(stolen.conflicts.join(), /the directory says that the cell "east" serves it/);
  const twin = await west.publish(cell('west', 1001), namesOf(1002 as InstitutionId, 'lakeside'));
  assert.match(twin.conflicts.join(), /The cell "east" has another institution with the code "lakeside"/);
  const unborn = await west.publish(cell('west', 1001), namesOf(5000 as InstitutionId, 'unborn'));
  assert.match(unborn.conflicts.join(), /No cell of the directory has the number 5000/);
  assert.equal((await west.find({ kind: 'client', clientId: 'app' }))?.cell, 'east');
});

const withHost = (names: Publication, host: string): Publication => ({
  ...names,
  hosts: names.institutions.map(({ institutionId }) => ({ institutionId, host })),
});
/** A claim of eleven minutes ago. */
const makeOld = async (table: string, column: string, name: string) => {
  await rows(`alter table ${table} disable trigger user`);
  await rows(`update ${table} set claimed_at = now() - interval '11 minutes' where ${column} = '${name}'`);
  await rows(`alter table ${table} enable trigger user`);
};

test('a host name is claimed like a client id, belongs to one institution, and leads to its cell', async () => {
  const claim = (host: string) => east.claim('east', withHost(namesOf(lakeside, 'lakeside'), host));
  await claim('bank.lakeside.example');
  await claim('bank.lakeside.example');
  assert.match(
    await refusal(west.claim('west', withHost(namesOf(harbor, 'harbor'), 'bank.lakeside.example'))),
    /The host name bank\.lakeside\.example belongs to the institution "lakeside" of the cell "east"/,
  );
  assert.equal((await west.find({ kind: 'host', host: 'bank.lakeside.example' }))?.cell, 'east');
  assert.deepEqual(
    (await west.listHosts()).map(({ host, cell: of }) => [host, of]),
    [['bank.lakeside.example', 'east']],
  );
  assert.match(
    await refusal(west.claim('west', withHost(namesOf(harbor, 'harbor'), 'lakeside.example'))),
    /https:\/\/lakeside\.example is an institution's own issuer, and that of an identity provider/,
  );
});

test('a host name that its institution gave up is free, unless it has just claimed it again', async () => {
  const given = namesOf(lakeside, 'lakeside', ['app', 'core']);
  const old = () => makeOld('directory_hosts', 'host', 'bank.lakeside.example');
  await old();
  await east.claim('east', withHost(given, 'bank.lakeside.example'));
  await east.publish(cell('east', 1), given);
  assert.notEqual(await west.find({ kind: 'host', host: 'bank.lakeside.example' }), undefined);
  await old();
  await west.publish(cell('west', 1001), { ...namesOf(harbor, 'harbor'), hosts: [] });
  assert.notEqual(await west.find({ kind: 'host', host: 'bank.lakeside.example' }), undefined);
  await east.publish(cell('east', 1), given);
  assert.equal(await west.find({ kind: 'host', host: 'bank.lakeside.example' }), undefined);
});

test('the code of a new institution is claimed once, and a claim that was interrupted keeps its number', async () => {
  const [first, second, other] = [11, 12, 1011] as [InstitutionId, InstitutionId, InstitutionId];
  assert.equal(await east.claimInstitution('east', { institutionId: first, code: 'birch' }), first);
  assert.equal(await east.claimInstitution('east', { institutionId: second, code: 'birch' }), first);
  assert.match(
    await refusal(west.claimInstitution('west', { institutionId: other, code: 'birch' })),
    /The cell "east" has another institution with the code "birch"/,
  );
  const both = await Promise.all(
    [13, 14].map((id) =>
      east.claimInstitution('east', { institutionId: id as InstitutionId, code: 'cedar' }),
    ),
  );
  assert.equal(new Set(both).size, 1, 'two commands at the same time get one number');
});

const keyOf = (kid: string, more: object = {}) => ({
  kid,
  publicJwk: { kid, kty: 'EC', crv: 'P-256', x: 'x', y: 'y', alg: 'ES256', use: 'sig', ...more },
});

test('a cell learns the public keys of the others, until their cell has them no more or is lost', async () => {
  const names = namesOf(lakeside, 'lakeside', ['app', 'core']);
  const publish = (...kids: string[]) =>
    east.publish(cell('east', 1), { ...names, keys: kids.map((kid) => keyOf(kid)) });
  const seen = async () => {
    const { keysOfOthers } = await west.publish(cell('west', 1001), namesOf(harbor, 'harbor'));
    return keysOfOthers.map(({ kid }) => kid);
  };
  assert.equal((await publish('first', 'next')).changes, 2);
  assert.equal((await publish('first', 'next')).changes, 0);
  assert.deepEqual(await seen(), ['first', 'next']);
  assert.deepEqual((await publish('first', 'next')).keysOfOthers, [], 'its own are none of them');
  await publish('first');
  assert.deepEqual(await seen(), ['first', 'next'], 'another process has just made the key');
  const age = (table: string, change: string) =>
    rows(
      `alter table ${table} disable trigger user; update ${table} set ${change}; alter table ${table} enable trigger user`,
    );
  await age('directory_keys', `published_at = now() - interval '2 minutes'`);
  await publish('first');
  assert.deepEqual(await seen(), ['first']);
  const until = async () =>
    (
      await rows<{ days: number }>(
        `select round(extract(epoch from listed_until - now()) / 86400)::integer as days from directory_keys`,
      )
    )[0]?.days;
  await age('directory_keys', `listed_until = now() + interval '47 hours'`);
  await publish('first');
  assert.equal(await until(), 3, 'a cell that lives renews its keys');
});

test('a publication reads the keys of others when a key came or went, or once a day, and never the list of cells', async () => {
  let now = new Date();
  const reader = new CellDirectory({ url: database.url, clock: () => now, actor: 'west' });
  const names = namesOf(lakeside, 'lakeside', ['app', 'core']);
  const asked: string[] = [];
  const start = ({ statement }: { readonly statement: string }) => asked.push(statement);
  const subscriber = { start } as unknown as Parameters<typeof seams.statement.subscribe>[0];
  seams.statement.subscribe(subscriber);
  const readings = async () => {
    asked.length = 0;
    for (let time = 0; time < 3; time += 1)
      await reader.publish(cell('west', 1001), namesOf(harbor, 'harbor'));
    return asked.filter((name) => name === 'directory_keys_of_others').length;
  };
  try {
    assert.equal(await readings(), 1, 'a process that starts');
    assert.equal(await readings(), 0);
    await east.publish(cell('east', 1), { ...names, keys: [keyOf('first'), keyOf('second')] });
    assert.equal(await readings(), 1, 'a key came');
    await rows(`delete from directory_keys where kid = 'second'`);
    assert.equal(await readings(), 1, 'a key went');
    await rows(`update directory_keys set listed_until = listed_until + interval '1 minute'`);
    assert.equal(await readings(), 0, 'a renewal');
    now = new Date(now.getTime() + 25 * 60 * 60_000);
    assert.equal(await readings(), 1, 'the next day');
    assert.ok(!asked.includes('directory_cells'));
    assert.ok(asked.includes('directory_unlike_cells'));
  } finally {
    seams.statement.unsubscribe(subscriber);
    await reader.close();
  }
});

test('a cell cannot replace a key of another one, nor publish a private key', async () => {
  const publish = (key: ReturnType<typeof keyOf>) =>
    west.publish(cell('west', 1001), { ...namesOf(harbor, 'harbor'), keys: [key] });
  const { conflicts } = await publish(keyOf('first', { x: 'another' }));
  assert.match(conflicts.join(), /another key first than this cell, as one of the cell "east"/);
  const [kept] = await rows(`select cell, public_jwk ->> 'x' as x from directory_keys where kid = 'first'`);
  assert.deepEqual(kept, { cell: 'east', x: 'x' });
  for (const wrong of [{ d: 'secret' }, { kid: 'other' }, { alg: 'HS256' }, { kty: 'oct' }])
    await assert.rejects(publish(keyOf('third', wrong)), /directory_keys_public/);
});

test('one operator gets a client id that two claim at the same time', async () => {
  const claims = [
    east.claim('east', namesOf(lakeside, 'lakeside', ['contested'])),
    west.claim('west', namesOf(harbor, 'harbor', ['contested'])),
  ];
  const results = await Promise.allSettled(claims);
  assert.deepEqual(results.map(({ status }) => status).sort(), ['fulfilled', 'rejected']);
  const [{ count }] = (await rows(
    `select count(*)::integer as count from directory_clients where client_id = 'contested'`,
  )) as [{ count: number }];
  assert.equal(count, 1);
});

test('a claim outlives a publication without its client for ten minutes, and no longer', async () => {
  await east.claim('east', namesOf(meadow, 'meadow', ['late']));
  const without = () => east.publish(cell('east', 1), { ...namesOf(meadow, 'meadow'), clients: [] });
  await without();
  assert.notEqual(await west.find({ kind: 'client', clientId: 'late' }), undefined);
  await makeOld('directory_clients', 'client_id', 'late');
  await without();
  assert.equal(await west.find({ kind: 'client', clientId: 'late' }), undefined);
});

test('a remembered place is that of the last move, in every process', async () => {
  assert.equal((await west.find({ kind: 'client', clientId: 'core' }))?.cell, 'east');
  const place = (from: string, to: string, moves = 0) =>
    east.place({ institutionId: lakeside, code: 'lakeside', moves }, { from, to });
  assert.equal(await place('east', 'west'), 1);
  assert.equal((await west.find({ kind: 'client', clientId: 'core' }))?.cell, 'west');
  assert.equal(await place('east', 'west'), 1, 'a repeated move is the same one');
  assert.match(await refusal(place('east', 'north')), /says that the cell "west" serves "lakeside"/);
  assert.equal(await place('east', 'west', 4), 5, 'a directory that was restored goes on behind the cell');
  await assert.rejects(rows(`update directory_institutions set moves = 4 where code = 'lakeside'`), {
    code: 'SD162',
  });
  assert.equal(await place('west', 'east', 5), 6);
});

test('a cell with another PUBLIC_URL, SECRET_KEY, version, name or numbers is refused', async () => {
  const { publicUrl, fingerprint } = cell('north', 3001);
  const wrong = (change: Partial<OwnCell>, first = 3001, name = 'north') =>
    refusal(west.register(cell(name, first, { publicUrl, fingerprint, ...change }), 'http://127.0.0.1:1003'));
  assert.match(
    await wrong({ publicUrl: 'https://other.example' }),
    /PUBLIC_URL is https:\/\/other\.example here/,
  );
  assert.match(await wrong({ fingerprint: Buffer.alloc(32, 8) }), /has another SECRET_KEY/);
  assert.match(
    await wrong({ program: '2.0.0' }),
    /has version 1\.0\.0 of the service, and this program is 2\.0\.0/,
  );
  assert.match(await wrong({}, 1500), /Another cell of the directory has some of these numbers/);
  assert.match(await wrong({}, 3001, 'east'), /another cell "east", with the numbers 1-999/);
  assert.match(
    await refusal(
      east.publish(cell('east', 1, { publicUrl: 'https://other.example' }), namesOf(lakeside, 'lakeside')),
    ),
    /PUBLIC_URL/,
  );
  assert.match(
    await refusal(east.publish(cell('north', 3001), namesOf(lakeside, 'lakeside'))),
    /does not have the cell "north"/,
  );
  assert.deepEqual(
    (await east.listCells()).map(({ name, program }) => [name, program]),
    [
      ['east', '1.0.0'],
      ['west', '1.0.0'],
    ],
  );
});

test('a trial changes nothing', async () => {
  const trial = await east.publish(
    cell('east', 1, { program: '1.0.1' }),
    namesOf(meadow, 'meadow', ['tried']),
    {
      isTrial: true,
    },
  );
  assert.equal(trial.changes, 1);
  assert.equal(await east.find({ kind: 'client', clientId: 'tried' }), undefined);
  assert.equal((await east.listCells())[0]?.program, '1.0.0');
});

test('the audit has every change with its cell and login, and the service’s login cannot change it', async () => {
  const entries = await rows<{ actor: string; login: string; before: object; after: { cell?: string } }>(
    `select actor, login, before, after from directory_entries
     where table_name = 'directory_institutions' and action = 'update' order by entry_id`,
  );
  assert.deepEqual(
    entries.map(({ actor, login, after }) => [actor, login, after.cell]),
    [
      ['east', 'sharedraft_app', 'west'],
      ['east', 'sharedraft_app', 'west'],
      ['east', 'sharedraft_app', 'east'],
    ],
  );
  const asService = (text: string) =>
    asSuperuser(database.owner, async (client) => {
      await client.query('set role sharedraft_app');
      await client.query(text);
    });
  for (const text of [
    `delete from directory_entries`,
    `update directory_institutions set code = 'other'`,
    `delete from directory_institutions`,
    `update directory_clients set institution_id = 1001`,
    `insert into directory_changes values ('1')`,
  ])
    await assert.rejects(asService(text), { code: '42501' }, text);
  await assert.rejects(rows(`delete from directory_entries`), { code: 'SD160' });
  await assert.rejects(rows(`insert into directory_institutions values (9000, 'nowhere', 'east', now())`), {
    code: 'SD161',
  });
});

test('a switch that arrives behind the undo of its move changes nothing', async () => {
  const place = (from: string, to: string, moves: number) =>
    east.place({ institutionId: lakeside, code: 'lakeside', moves }, { from, to });
  const undone = await place('west', 'east', 7);
  assert.equal(undone, 8, 'behind the move that it undoes, which has number 7');
  assert.match(await refusal(place('east', 'west', 6)), /says that the cell "east" serves "lakeside"/);
  assert.equal((await west.find({ kind: 'client', clientId: 'core' }))?.cell, 'east');
  assert.equal(await place('east', 'west', undone), 9, 'the next move is a later one');
  assert.equal(await place('west', 'east', 9), 10);
});
