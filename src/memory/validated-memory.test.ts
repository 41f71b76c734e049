import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import type { InstitutionId } from '../storage/index.ts';
import type { Changes, Known } from './change-queries.ts';
import { ValidatedMemory } from './validated-memory.ts';

const one = 1 as InstitutionId;
const two = 2 as InstitutionId;
const nothing: Changes = { at: '9:9:', isKept: true, changed: [], moved: [] };
const account = (institution: number, key: number) => String(institution * 65_536 + 4_096 + key);

const opened: ValidatedMemory[] = [];
after(() => {
  for (const memory of opened) memory.close();
});

/** A memory whose questions the test answers. */
async function memoryWith({ maxBytes = 1_000_000 } = {}) {
  let now = 1_000;
  const asked: Known[] = [];
  const answers: (Partial<Changes> | Error | Promise<Partial<Changes>>)[] = [
    { isKept: false, changed: null },
  ];
  const memory = new ValidatedMemory({
    ask: async (known) => {
      asked.push(known);
      const answer = await (answers.shift() ?? {});
      if (answer instanceof Error) throw answer;
      return { ...nothing, ...answer };
    },
    clock: () => new Date(now),
    maxBytes,
  });
  opened.push(memory);
  const question = () => new Promise<Error | null>((resolve) => memory.check([], resolve));
  await question();
  asked.pop();
  const keep = (key: string, { institutionId = one, accountKey = 7n, seq = 3n, bytes = 100 } = {}) => {
    const basis = memory.begin(institutionId);
    basis.add('account', accountKey);
    basis.addBalance(accountKey, seq);
    return memory.keep(key, `value of ${key}`, bytes, basis) ?? assert.fail();
  };
  const later = (millis: number) => {
    now += millis;
  };
  return { memory, asked, answers, question, keep, later };
}

test('returns a value while nothing that it stands on has changed, and asks for its balances', async () => {
  const { memory, asked, keep } = await memoryWith();
  const entry = keep('a');
  assert.equal(memory.find('a'), entry);
  assert.equal(await memory.confirm(entry), true);
  assert.deepEqual(asked, [{ institutions: [1], accountKeys: [7n], seqs: [3n] }]);
});

test('forgets a value whose balance moved, and no other', async () => {
  const { memory, answers, keep } = await memoryWith();
  const [moved, other] = [keep('a'), keep('b', { accountKey: 8n })];
  answers.push({ moved: [1] });
  const [first, second] = await Promise.all([memory.confirm(moved), memory.confirm(other)]);
  assert.deepEqual([first, second], [false, true]);
  assert.equal(memory.find('a'), undefined);
  assert.equal(memory.find('b'), other);
});

test('forgets the values that stand on a changed thing, in its institution only', async () => {
  const { memory, answers, question, keep } = await memoryWith();
  keep('a');
  const [other, elsewhere] = [keep('b', { accountKey: 8n }), keep('c', { institutionId: two })];
  answers.push({ changed: [account(1, 7)] });
  await question();
  assert.equal(memory.find('a'), undefined);
  assert.deepEqual([memory.find('b'), memory.find('c')], [other, elsewhere]);
  answers.push({ changed: [String(2 * 65_536)] });
  await question();
  assert.deepEqual([memory.find('b'), memory.find('c')], [other, undefined]);
});

test('does not keep a value that was read before a change became known', async () => {
  const { memory, answers, question, keep } = await memoryWith();
  const basis = memory.begin(one);
  basis.add('account', 7n);
  answers.push({ changed: [account(1, 7)] });
  await question();
  assert.equal(memory.keep('a', 'old', 1, basis), undefined);
  assert.ok(keep('a'));
});

test('keeps nothing before the first response, of a lost connection, or across a new one', async () => {
  const { memory, answers, question, keep } = await memoryWith();
  for (const answer of [new Error('lost'), { isKept: false, changed: null }]) {
    keep('a');
    const begun = memory.begin(one);
    answers.push(answer);
    const error = await question();
    assert.equal(error === null, !(answer instanceof Error));
    assert.equal(memory.find('a'), undefined);
    assert.deepEqual(memory.size, { entries: 0, bytes: 0 });
    assert.equal(memory.keep('a', 'of another time', 1, begun), undefined);
    if (error === null) continue;
    assert.equal(memory.keep('a', 'without a connection', 1, memory.begin(one)), undefined);
    answers.push({ isKept: false, changed: null });
    await question();
  }
  assert.ok(keep('a'));
});

test('fails the requests of a question that fails, and no later ones', async () => {
  const { memory, answers, question, keep } = await memoryWith();
  const entry = keep('a');
  answers.push(new Error('away'));
  await assert.rejects(memory.confirm(entry), /away/);
  assert.equal(await question(), null);
});

test('returns no value from the time on at which it ends', async () => {
  const { memory, later } = await memoryWith();
  const basis = memory.begin(one);
  basis.endAt(5_000);
  basis.endAt(6_000);
  const entry = memory.keep('a', 'value', 1, basis) ?? assert.fail();
  later(3_999);
  assert.equal(memory.find('a'), entry);
  later(1);
  assert.equal(memory.isTrue(entry), false);
  assert.equal(memory.find('a'), undefined);
});

test('asks once for the requests of a turn, and one question at a time', async () => {
  const { memory, asked, answers, keep } = await memoryWith();
  const entry = keep('a');
  const first = Promise.withResolvers<Partial<Changes>>();
  answers.push(first.promise);
  const turn = () => new Promise(setImmediate);
  const results = [memory.confirm(entry), memory.confirm(entry)];
  await turn();
  assert.equal(asked.length, 1);
  assert.deepEqual(asked[0]?.accountKeys, [7n]);
  results.push(memory.confirm(entry));
  await turn();
  results.push(memory.confirm(entry));
  await turn();
  assert.equal(asked.length, 1, 'the third and the fourth request wait');
  first.resolve({});
  assert.deepEqual(await Promise.all(results), [true, true, true, true]);
  assert.equal(asked.length, 2, 'and share a question');
});

test('stays below its bytes, and evicts the values that were not used since the hand last passed', async () => {
  const { memory, keep } = await memoryWith({ maxBytes: 100_000 });
  for (let index = 0; index < 1_000; index += 1) {
    keep(`key ${index}`, { bytes: 1_000 });
    assert.ok(memory.size.bytes <= 100_000);
    assert.ok(memory.find('key 0'), 'a value in use stays');
  }
  assert.ok(memory.size.entries > 40 && memory.size.entries < 80, String(memory.size.entries));
  assert.equal(memory.find('key 500'), undefined);
});

test('counts the marks of changes, and forgets all once they take half of its bytes', async () => {
  const { memory, answers, question, keep } = await memoryWith({ maxBytes: 100_000 });
  keep('a');
  const begun = memory.begin(one);
  // Institutions far apart need a page of marks each.
  const changesOf = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => String((from + index) * 65_536));
  const { bytes } = memory.size;
  answers.push({ changed: changesOf(100, 20) });
  await question();
  assert.ok(memory.size.bytes > bytes + 20 * 8 * 256 && memory.size.bytes <= 100_000);
  assert.ok(memory.find('a'));
  answers.push({ changed: changesOf(200, 20) });
  await question();
  assert.deepEqual(memory.size, { entries: 0, bytes: 0 });
  assert.equal(memory.keep('a', 'begun before', 1, begun), undefined);
  assert.ok(keep('a'), 'it goes on');
});

test('reads a value once, and again after a change of its institution', async () => {
  const { memory, answers } = await memoryWith();
  let reads = 0;
  const read = () =>
    memory.read({ key: 'a', institutionId: one, bytes: 1 }, async () => {
      reads += 1;
      return reads === 3 ? undefined : reads;
    });
  assert.deepEqual([await read(), await read()], [1, 1]);
  answers.push({ changed: [String(65_536)] });
  assert.equal(await read(), 2);
  answers.push({ changed: [String(65_536)] });
  assert.equal(await read(), undefined, 'nothing is remembered of it');
  assert.equal(await read(), 4);
});

test('counts a value that is kept again once', async () => {
  const { memory, keep } = await memoryWith();
  keep('a');
  const { bytes } = memory.size;
  keep('a');
  assert.deepEqual(memory.size, { entries: 1, bytes });
});

test('keeps no answer of so many accounts that its check would cost more than a read', async () => {
  const { memory } = await memoryWith();
  const basis = memory.begin(one);
  for (let key = 0n; key < 65n; key += 1n) basis.addBalance(key, 1n);
  assert.equal(memory.keep('a', 'value', 1, basis), undefined);
});

test('knows the position of the log as the last question found it, and none without a connection', async () => {
  const { memory, answers, question } = await memoryWith();
  assert.equal(memory.logPosition, null);
  answers.push({ flushed: '0/10', timeline: '7/1' }, { flushed: '0/20', timeline: '7/1' }, new Error('lost'));
  await question();
  assert.deepEqual(memory.logPosition, { flushed: '0/10', timeline: '7/1' });
  await question();
  assert.deepEqual(memory.logPosition, { flushed: '0/20', timeline: '7/1' });
  await question();
  assert.equal(memory.logPosition, null);
});
