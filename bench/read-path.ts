/*
 * The code that a read of one account runs, by the coverage of V8: files, functions and lines of `src`.
 *
 *   node bench/read-path.ts
 *
 * `first`: new tokens and accounts that this process has not read. `again`: the same requests once more. A function counts if it
 * runs at least once for each request, so that timers do not count. Lines are those that ran, without blank lines and comments.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { type Profiler, Session } from 'node:inspector/promises';
import { fileURLToPath } from 'node:url';
import { clientOf, paths, send } from '../test/support/demo.ts';
import { startTestService } from '../test/support/service.ts';

/** Of the sweeper, which runs beside the requests. */
const sweeper = /^(transfers|core-connection)\//;
const source = new URL('../src/', import.meta.url).href;
const accounts = [
  '1001-checking',
  '1001-savings',
  '1002-checking',
  '1002-savings',
  '1003-checking',
  '1003-savings',
];

const service = await startTestService();
const session = new Session();
session.connect();
try {
  const tokens: string[] = [];
  for (const _ of accounts)
    tokens.push((await clientOf(service, ['demo-backend', 'demo-backend-secret'])).token);
  const readAll = async () => {
    for (const [index, account] of accounts.entries()) {
      const headers = { authorization: `Bearer ${tokens[index]}` };
      const { status } = await send(service.address, 'GET', `${paths.accounts}/a-${account}`, { headers });
      assert.equal(status, 200);
    }
  };
  await session.post('Profiler.enable');
  for (const name of ['first', 'again']) {
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await readAll();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    await session.post('Profiler.stopPreciseCoverage');
    const ran = result.filter(({ url }) => url.startsWith(source)).map(partOf);
    const files = ran.filter(({ file, functions }) => functions > 0 && !sweeper.test(file));
    const sum = (of: 'functions' | 'lines') => files.reduce((all, file) => all + file[of], 0);
    console.log(`${name}: ${files.length} files, ${sum('functions')} functions, ${sum('lines')} lines`);
    for (const { file, functions, lines } of files.toSorted((a, b) => b.lines - a.lines)) {
      console.log(
        `  ${file.padEnd(44)} ${String(functions).padStart(3)} functions ${String(lines).padStart(4)} lines`,
      );
    }
  }
} finally {
  session.disconnect();
  await service.close();
}

function partOf({ url, functions }: Profiler.ScriptCoverage) {
  const text = readFileSync(fileURLToPath(url), 'utf8');
  const called = functions.filter(({ functionName, ranges }) => {
    const [whole] = ranges;
    // The outermost function of a script is the script itself.
    const isModule = functionName === '' && whole?.startOffset === 0;
    return !isModule && whole !== undefined && whole.count >= accounts.length;
  });
  const runs = new Uint8Array(text.length);
  const inOrder = called
    .flatMap(({ ranges }) => ranges)
    .toSorted((a, b) => a.startOffset - b.startOffset || b.endOffset - a.endOffset);
  for (const { startOffset, endOffset, count } of inOrder)
    runs.fill(count > 0 ? 1 : 0, startOffset, endOffset);
  let offset = 0;
  let lines = 0;
  for (const line of text.split('\n')) {
    const start = offset + line.search(/\S|$/);
    offset += line.length + 1;
    if (/^\s*($|\/\/|\/?\*)/.test(line)) continue;
    if (runs.subarray(start, offset).includes(1)) lines += 1;
  }
  return { file: url.slice(source.length), functions: called.length, lines };
}
