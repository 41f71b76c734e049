import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Directory, jsonOf, rowsIn, rowsOf, sql } from '../../src/storage/index.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';

let db: TestDatabase;
before(async () => {
  db = await testDatabase();
});
after(() => db.close());

const events = sql(
  'events_come_back',
  `select kind, subject_key, from_key, data, secret, secret_expires_at
   from unnest($1::new_event[]) with ordinality as e (kind, subject_key, from_key, from_seq, to_key, to_seq, data, secret,
                                                      secret_expires_at, place)
   order by place`,
);

test('sends rows with every kind of cell to the database unchanged', async () => {
  const texts = [
    ...[
      '',
      ' ',
      'NULL',
      'null',
      'plain',
      'a,b',
      '(a)',
      '{a}',
      '"',
      '""',
      '\\',
      '\\"',
      '\\\\',
      "'",
      'it’s',
      '€ 😀',
    ],
    ...['\n', '\t', ' a ', 'a"b\\c,d(e)f{g}', 'x'.repeat(10_000)],
  ];
  const rows = texts.map((kind, index) => ({
    kind,
    subjectKey: index % 2 === 0 ? -9_223_372_036_854_775_808n : 9_223_372_036_854_775_807n,
    fromKey: index % 2 === 0 ? null : BigInt(index),
    data: index % 3 === 0 ? null : { [kind]: [kind, index] },
    secret: index % 3 === 1 ? null : Buffer.from([0, index, 255]),
    secretExpiresAt: index % 2 === 0 ? null : new Date(1_772_000_000_123 + index),
  }));
  const back = await db.database.directory(async (queryable: Directory) =>
    queryable.query(events, [
      rowsOf(rows, (row) => [
        row.kind,
        row.subjectKey,
        row.fromKey,
        null,
        undefined,
        row.kind.length,
        row.data && JSON.stringify(row.data),
        row.secret,
        row.secretExpiresAt,
      ]),
    ]),
  );
  assert.deepEqual(back.rows, rows);
});

test('sends no rows as an empty array', async () => {
  const { rows } = await db.database.directory((queryable) =>
    queryable.query(events, [rowsOf([], () => [])]),
  );
  assert.deepEqual(rows, []);
});

const named = sql(
  'named_rows_come_back',
  `select transfer_type, currency, review_above, cut_off::text as cut_off, payment_options
   from ${rowsIn('$1', 'transfer_policies')}`,
);

test('sends rows by the names of their columns to the database unchanged', async () => {
  const rows = [
    {
      transferType: 'it’s "\\" €',
      currency: 'USD',
      reviewAbove: 9_223_372_036_854_775_807n,
      cutOff: '17:00:00',
      paymentOptions: ['DEFAULT', ','],
    },
    { transferType: '', currency: null, reviewAbove: -1n, cutOff: null, paymentOptions: [] },
  ];
  const send = (given: readonly object[]) =>
    db.database.directory((queryable) => queryable.query(named, [jsonOf(given)]));
  assert.deepEqual((await send(rows)).rows, rows);
  const [omitted] = (await send([{ currency: 'EUR', cutOff: undefined }])).rows;
  assert.deepEqual(omitted, {
    transferType: null,
    currency: 'EUR',
    reviewAbove: null,
    cutOff: null,
    paymentOptions: null,
  });
});
