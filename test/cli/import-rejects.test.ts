import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { commandsOn } from '../support/commands.ts';
import { testDatabase } from '../support/database.ts';
import { extractFolder, validExtract } from '../support/extract.ts';

test('import --rejects lists the rejected rows in a file, imports the others and exits with 3', async () => {
  await using db = await testDatabase();
  const run = commandsOn(db);
  const files = validExtract();
  files['institution.csv']?.splice(1, 1, 'fictional,Fictional,USD,America/New_York,open,250.00,15,yes');
  files['accounts.csv']?.splice(4, 1, 'a-4,1002,1002-10,CHECKING,,JPY,x,open,no,,,,');
  await using folder = await extractFolder(files);
  const rejects = path.join(folder.folder, 'rejects.csv');

  const strict = await run('import', folder.folder);
  assert.equal(strict.code, 1);
  assert.match(strict.stderr, /Nothing was imported/);

  const over = await run('import', folder.folder, '--rejects', path.join(folder.folder, 'holders.csv'));
  assert.equal(over.code, 1);
  assert.match(over.stderr, /holders\.csv exists and does not begin with file,line,column,reason/);

  const nowhere = await run('import', folder.folder, '--rejects', path.join(folder.folder, 'no/rejects.csv'));
  assert.equal(nowhere.code, 1);
  assert.match(nowhere.stderr, /cannot be written \(ENOENT\)\. Nothing was imported/);

  const listed = [
    'file,line,column,reason',
    'accounts.csv,5,balance,expected an amount like 123456',
    'holders.csv,6,account_id,expected an account whose row is not rejected',
    'holders.csv,7,account_id,expected an account whose row is not rejected',
    '',
  ].join('\n');
  const dry = await run('import', folder.folder, '--rejects', rejects, '--dry-run');
  assert.deepEqual([dry.code, dry.stderr.includes('Error')], [3, false], dry.stderr);
  assert.match(dry.stdout, /This was a dry run\. Nothing was changed\.\nRejected rows/);
  assert.equal(await readFile(rejects, 'utf8'), listed);
  const [none] = await db.superuser('select count(*) as institutions from institutions');
  assert.deepEqual(none, { institutions: 0n });

  const done = await run('import', folder.folder, '--rejects', rejects);
  assert.equal(done.code, 3, done.stderr);
  assert.match(done.stdout, /4 accounts; 3 opened with a balance/);
  assert.match(done.stdout, /Rejected rows, with the reasons in .*: 1 of accounts\.csv, 2 of holders\.csv\./);
  assert.equal(await readFile(rejects, 'utf8'), listed);

  await writeFile(
    path.join(folder.folder, 'accounts.csv'),
    `${validExtract()['accounts.csv']?.join('\n')}\n`,
  );
  const mended = await run('import', folder.folder, '--rejects', rejects);
  assert.equal(mended.code, 0, mended.stderr);
  assert.equal(
    await readFile(rejects, 'utf8'),
    'file,line,column,reason\n',
    'an empty list replaces the earlier one',
  );
});
