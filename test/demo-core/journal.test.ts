import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Journal, JournalDamagedError } from '../../dev/demo-core/journal.ts';

interface Entry {
  readonly n: number;
}

let folder: string;
before(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'sharedraft-journal-'));
});
after(() => rm(folder, { recursive: true, force: true }));

async function written(name: string, count: number): Promise<string> {
  const file = path.join(folder, name);
  const { journal } = await Journal.open<Entry>(file);
  for (let n = 1; n <= count; n += 1) await journal.append([{ n }]);
  await journal.close();
  return file;
}

async function numbersIn(file: string): Promise<number[]> {
  const { journal, entries } = await Journal.open<Entry>(file);
  await journal.close();
  return entries.map(({ n }) => n);
}

test('the journal of the demo core returns its entries in order after it is opened again', async () => {
  const file = await written('again', 3);
  const { journal } = await Journal.open<Entry>(file);
  await Promise.all([journal.append([{ n: 4 }, { n: 5 }]), journal.append([{ n: 6 }])]);
  await journal.close();
  assert.deepEqual(await numbersIn(file), [1, 2, 3, 4, 5, 6]);
});

test('the journal of the demo core cuts a last line that was half written at any byte, and goes on after it', async () => {
  const whole = await readFile(await written('whole', 3));
  const beforeLast = whole.lastIndexOf('\n', whole.length - 2) + 1;
  for (let end = beforeLast; end < whole.length; end += 1) {
    const file = path.join(folder, `cut-${end}`);
    await writeFile(file, whole.subarray(0, end));
    const { journal, entries } = await Journal.open<Entry>(file);
    assert.deepEqual(
      entries.map(({ n }) => n),
      [1, 2],
      `cut at byte ${end}`,
    );
    await journal.append([{ n: 9 }]);
    await journal.close();
    assert.deepEqual(await numbersIn(file), [1, 2, 9]);
  }
});

test('the journal of the demo core drops a last line of zeros, which a crash of the machine may leave', async () => {
  const file = await written('zeros', 2);
  await appendFile(file, '\0'.repeat(40));
  assert.deepEqual(await numbersIn(file), [1, 2]);
});

test('the journal of the demo core refuses a line in the middle that was changed, lost or moved', async () => {
  const lines = (await readFile(await written('harmed', 4), 'utf8')).trimEnd().split('\n');
  const [a = '', b = '', c = '', d = ''] = lines;
  for (const [name, harmed] of [
    ['changed', [a, b.replace('"n":2', '"n":7'), c, d]],
    ['lost', [a, c, d]],
    ['moved', [b, a, c, d]],
  ] as const) {
    const file = path.join(folder, name);
    await writeFile(file, `${harmed.join('\n')}\n`);
    await assert.rejects(numbersIn(file), JournalDamagedError, name);
  }
});

test('every entry whose append resolved is in the journal of a demo core that was killed with -9', async () => {
  const file = path.join(folder, 'killed');
  const journal = fileURLToPath(new URL('../../dev/demo-core/journal.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--input-type=module',
      '-e',
      `import { Journal } from ${JSON.stringify(journal)};
       const { journal } = await Journal.open(${JSON.stringify(file)});
       for (let n = 1; ; n += 1) { await journal.append([{ n }]); process.stdout.write(n + '\\n'); }`,
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  let output = '';
  child.stdout.on('data', (chunk) => {
    output += chunk;
    if (output.length > 300) child.kill('SIGKILL');
  });
  await once(child, 'close');
  const acknowledged = output.trimEnd().split('\n').slice(0, -1).map(Number);
  assert.ok(acknowledged.length > 50);
  const found = await numbersIn(file);
  assert.deepEqual(found.slice(0, acknowledged.length), acknowledged);
});
