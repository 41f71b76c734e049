import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { runCli } from '../support/cli.ts';
import { commandsOn } from '../support/commands.ts';
import { type Connector, connectorOf, purchase } from '../support/core.ts';
import { startTestService, type TestService } from '../support/service.ts';

const lakeside = fileURLToPath(new URL('../../examples/lakeside', import.meta.url));
let service: TestService;
let core: Connector;
let run: ReturnType<typeof commandsOn>;
let parent: string;
before(async () => {
  service = await startTestService();
  core = await connectorOf(service);
  run = commandsOn(service.db);
  parent = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-core-'));
});
after(async () => {
  await service.close();
  await rm(parent, { recursive: true, force: true });
});

async function importing(files: Readonly<Record<string, string | Uint8Array>>, ...options: string[]) {
  const folder = await mkdtemp(path.join(parent, 'files-'));
  for (const [name, content] of Object.entries(files)) await writeFile(path.join(folder, name), content);
  return run('import', path.join(folder, 'transactions.csv'), '--institution', 'lakeside', ...options);
}

interface Stored {
  readonly id: string;
  readonly amount: bigint;
  readonly posted: string;
  readonly effective: string;
  readonly description: string;
}

function stored(prefix: string): Promise<Stored[]> {
  return service.db.superuser<Stored>(
    `select core_id as id, amount, to_char(posted_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI') as posted,
            effective_date::text as effective, description
     from core_transactions where core_id like $1 order by core_id`,
    [`${prefix}%`],
  );
}

const header = 'id,account_id,amount,currency_code,kind,posted_at,description';

describe('a file of transactions', () => {
  test('is taken in the own form, and posts nothing when it comes again or by the other door', async () => {
    const text = `${header}\nfile-1,a-1001-checking,-12.34,USD,CARD,2026-03-02T14:05:00-05:00,Corner Bakery\nfile-2,a-1001-checking,2400,USD,ACH_CREDIT,2026-03-02 06:00,"Payroll ""North"", Inc."\n`;
    const first = await importing({ 'transactions.csv': text });
    assert.deepEqual([first.code, first.stdout], [0, 'lakeside: 2 posted.\n'], first.stderr);
    assert.equal((await importing({ 'transactions.csv': text })).stdout, 'lakeside: 2 already.\n');
    const [live] = await core.deliver([purchase('file-1')]);
    assert.equal(live?.result, 'already');
    const rows = await stored('file-');
    assert.deepEqual(
      rows.map(({ amount, posted, description }) => [amount, posted, description]),
      [
        [-1_234n, '2026-03-02T19:05', 'Corner Bakery'],
        [240_000n, '2026-03-02T11:00', 'Payroll "North", Inc.'],
      ],
    );
  });

  test("takes a core's own export by its mapping: encoding, delimiter, dates, decimals, signs and kinds", async () => {
    const mapping = {
      encoding: 'windows-1252',
      delimiter: ';',
      dates: 'DD.MM.YYYY',
      decimal: ',',
      sign: { column: 'DC', debit: 'D' },
      columns: {
        id: 'TRN',
        accountId: 'ACCT',
        amount: 'AMT',
        kind: 'TYPE',
        postedAt: 'DATE',
        effectiveDate: 'VALUE',
        description: 'TEXT',
      },
      constants: { currencyCode: 'USD', historic: 'yes' },
      kinds: { POS: 'CARD', SAL: 'ACH_CREDIT' },
    };
    const text = `TRN;ACCT;AMT;DC;TYPE;DATE;VALUE;TEXT;UNUSED\r\nmap-1;a-1001-checking;1.234,50;D;POS;02.03.2026 09:30;01.03.2026;Café Zoë;x\r\nmap-2;a-1001-checking;,75;C;SAL;02.03.2026;;Lohn;x\r\n`;
    const bytes = Buffer.from(text.replace('é', '\xe9').replace('ë', '\xeb'), 'latin1');
    const { code, stdout, stderr } = await importing({
      'transactions.csv': bytes,
      'columns.json': JSON.stringify(mapping),
    });
    assert.deepEqual([code, stdout], [0, 'lakeside: 2 posted.\n'], stderr);
    assert.deepEqual(await stored('map-'), [
      {
        id: 'map-1',
        amount: -123_450n,
        posted: '2026-03-02T14:30',
        effective: '2026-03-01',
        description: 'Café Zoë',
      },
      { id: 'map-2', amount: 75n, posted: '2026-03-02T05:00', effective: '2026-03-02', description: 'Lohn' },
    ]);
  });

  test('takes a byte order mark and American dates with debits as positive amounts', async () => {
    const mapping = {
      dates: 'MM/DD/YYYY',
      sign: 'debitsPositive',
      columns: {
        id: 'Id',
        accountId: 'Account',
        amount: 'Amount',
        kind: 'Kind',
        postedAt: 'Date',
        description: 'Text',
        currencyCode: 'Ccy',
      },
    };
    const text =
      '\uFEFFId,Account,Amount,Kind,Date,Text,Ccy\nus-1,a-1001-checking,"1,234.50",CHECK,3/2/2026,Check 7,USD\nus-2,a-1001-checking,-5.00,FEE,3/2/2026,Fee back,USD\n';
    await importing({ 'transactions.csv': text, 'columns.json': JSON.stringify(mapping) });
    assert.deepEqual(
      (await stored('us-')).map(({ amount, effective }) => [amount, effective]),
      [
        [-123_450n, '2026-03-02'],
        [500n, '2026-03-02'],
      ],
    );
  });

  test('names each refused line with its reason, and takes the others', async () => {
    const text = `${header}\nbad-1,nobody,-1,USD,CARD,2026-03-02,Nobody\nbad-2,a-1001-checking,-1,USD,CARD,2026-03-02,Somebody\nbad-3,a-1001-checking,twelve,USD,CARD,2026-02-30,Somebody\n`;
    const { code, stdout, stderr } = await importing({ 'transactions.csv': text });
    assert.equal(code, 1);
    assert.equal(stdout, 'lakeside: 1 posted, 2 refused.\n');
    assert.match(
      stderr,
      /transactions\.csv:2: account_not_found: .*\n.*:4: invalid_line: amount: .* postedAt must be/,
    );
    assert.equal((await stored('bad-')).length, 1);
  });

  test('refuses foreign accounts, wrong currencies, absurd dates and used ids by their lines', async () => {
    const day = '2026-03-02';
    const rows = [
      `no-1,h-2001-checking,-1,USD,CARD,${day},Account of another institution`,
      `no-2,a-1001-checking,-1,EUR,CARD,${day},Another currency`,
      'no-3,a-1001-checking,-1,USD,CARD,2999-01-01,Far ahead',
      'no-4,a-1001-checking,-1,USD,CARD,1850-01-01,Long ago',
      `no-5,a-1001-checking,-1,USD,CARD,${day},First content`,
      `no-5,a-1001-checking,-2,USD,CARD,${day},First content`,
      `no-6,internal:core-card:USD,-1,USD,CARD,${day},Internal account`,
    ];
    const { code, stdout, stderr } = await importing({
      'transactions.csv': `${[header, ...rows].join('\n')}\n`,
    });
    assert.deepEqual([code, stdout], [1, 'lakeside: 1 posted, 1 conflict, 5 refused.\n']);
    const refusals = [...stderr.matchAll(/transactions\.csv:(\d+): ([a-z_]+):/g)].map(([, line, reason]) => [
      Number(line),
      reason,
    ]);
    assert.deepEqual(refusals, [
      [2, 'account_not_found'],
      [3, 'currency_mismatch'],
      [4, 'date_out_of_range'],
      [5, 'date_out_of_range'],
      [7, 'id_reused'],
      [8, 'account_not_found'],
    ]);
    assert.match(stderr, /:7: id_reused: .*amount/);
    assert.deepEqual(
      (await stored('no-')).map(({ id, amount }) => [id, amount]),
      [['no-5', -100n]],
    );
  });

  test('posts each transaction once if the file of yesterday comes after that of today, with rows out of order', async () => {
    const row = (id: string, day: string, amount: number) =>
      `old-${id},a-1001-checking,${amount},USD,CARD,${day},Purchase ${id}`;
    const fileOf = (...rows: string[]) => ({ 'transactions.csv': `${[header, ...rows].join('\n')}\n` });
    const yesterday = fileOf(row('2', '2026-03-02', -2), row('1', '2026-03-01', -1));
    await importing(
      fileOf(row('4', '2026-03-04', -4), row('2', '2026-03-02', -2), row('3', '2026-03-03', -3)),
    );
    const late = await importing(yesterday);
    assert.deepEqual([late.code, late.stdout], [0, 'lakeside: 1 posted, 1 already.\n'], late.stderr);
    assert.equal((await importing(yesterday)).stdout, 'lakeside: 2 already.\n');
    assert.deepEqual(
      (await stored('old-')).map(({ amount, effective }) => [amount, effective]),
      [
        [-100n, '2026-03-01'],
        [-200n, '2026-03-02'],
        [-300n, '2026-03-03'],
        [-400n, '2026-03-04'],
      ],
    );
  });

  test('ends at a row of a megabyte with its line, and the corrected file posts each row once', async () => {
    const row = (id: string, text: string) => `${id},a-1001-checking,-1,USD,CARD,2026-03-02,${text}\n`;
    const fileOf = (text: string) => ({
      'transactions.csv': `${header}\n${row('mega-1', 'Before')}${row('mega-2', text)}${row('mega-3', 'After')}`,
    });
    const { code, stderr } = await importing(fileOf('m'.repeat(1_000_000)));
    assert.equal(code, 1);
    assert.match(stderr, /line 3: expected no record longer than 65,536 characters/);
    assert.equal((await importing(fileOf('Within'))).code, 0);
    assert.equal((await stored('mega-')).length, 3);
  });

  test('is refused with its line if it is compressed or cut within a row', async () => {
    const text = `${header}\ncut-1,a-1001-checking,-1,USD,CARD,2026-03-02,First\ncut-2,a-1001-checking,-2,USD,CARD,2026-03-02,Second\n`;
    const compressed = await importing({ 'transactions.csv': gzipSync(text).subarray(0, 60) });
    assert.equal(compressed.code, 1);
    assert.match(compressed.stderr, /line 1: expected UTF-8/);
    assert.equal((await stored('cut-')).length, 0);
    const cut = await importing({
      'transactions.csv': text.slice(0, text.indexOf(',USD,CARD,2026-03-02,Second')),
    });
    assert.equal(cut.code, 1);
    assert.match(cut.stderr, /:3: invalid_line: /);
    assert.equal((await importing({ 'transactions.csv': text })).code, 0);
    assert.equal((await stored('cut-')).length, 2);
  });

  test('is refused if its header or its mapping does not fit', async () => {
    const wrong = async (mapping: object, expected: RegExp) => {
      const { code, stderr } = await importing({
        'transactions.csv': `${header}\n`,
        'columns.json': JSON.stringify(mapping),
      });
      assert.equal(code, 1);
      assert.match(stderr, expected);
    };
    await wrong({ columns: { id: 'TRN' } }, /no column TRN/);
    await wrong({ columns: { identity: 'TRN' } }, /identity is not a field/);
    await wrong({ dates: 'YY' }, /dates must be one of/);
    await wrong({ kinds: { POS: 'BARTER' } }, /kinds: must be some of CARD/);
    await wrong({ sign: 'upside-down' }, /sign must be/);
    assert.match((await importing({ 'transactions.csv': '' })).stderr, /expected a header/);
  });

  test('comes with the extract of its folder', async () => {
    const folder = path.join(parent, 'extract');
    await cp(lakeside, folder, { recursive: true });
    await writeFile(
      path.join(folder, 'transactions.csv'),
      `${header}\nwith-1,a-1001-checking,-3,USD,CARD,2026-03-02,With\n`,
    );
    const { code, stdout, stderr } = await runCli(service.db, ['import', folder]);
    assert.equal(code, 0, stderr);
    assert.match(stdout, /lakeside: 1 posted\.\n$/);
  });
});
