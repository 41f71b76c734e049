import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decideAll, type Outcome } from '../../web/console/screens/review/decide-all.ts';
import { sumOf } from '../../web/design/format/money.ts';

const good: Outcome = { kind: 'good', words: 'completed' };

/** Decides on four transfers; the second has the outcome. */
async function decided(second: Outcome, stopAfter = 4) {
  const sent: string[] = [];
  const outcomes = new Map<string, Outcome>();
  let underWay = 0;
  await decideAll(['t-1', 't-2', 't-3', 't-4'], {
    decide: async (id) => {
      underWay += 1;
      assert.equal(underWay, 1, 'one request at a time');
      sent.push(id);
      await new Promise((resolve) => setImmediate(resolve));
      underWay -= 1;
      return id === 't-2' ? second : good;
    },
    isStopped: () => sent.length >= stopAfter,
    onOutcome: (id, outcome) => outcomes.set(id, outcome),
  });
  return { sent, outcomes };
}

describe('decisions on several transfers', () => {
  it('each decision is a request of its own, one after another, in the order of the queue', async () => {
    const { sent, outcomes } = await decided(good);
    assert.deepEqual(sent, ['t-1', 't-2', 't-3', 't-4']);
    assert.deepEqual([...outcomes.keys()], sent);
  });

  it('a refused decision keeps its own outcome, and the next ones are sent', async () => {
    const refusal: Outcome = { kind: 'bad', words: 'not pending' };
    const { sent, outcomes } = await decided(refusal);
    assert.equal(sent.length, 4);
    assert.deepEqual(outcomes.get('t-2'), refusal);
    assert.deepEqual(outcomes.get('t-3'), good);
  });

  it('the rest is not sent when the session ends or the service does not respond', async () => {
    const { sent, outcomes } = await decided({ kind: 'bad', words: 'sign in', stops: true });
    assert.deepEqual(sent, ['t-1', 't-2']);
    assert.equal(outcomes.has('t-3'), false);
  });

  it('nothing is sent after the present one when the operator stops', async () => {
    assert.deepEqual((await decided(good, 3)).sent, ['t-1', 't-2', 't-3']);
  });
});

describe('the sum of the chosen transfers', () => {
  it('is exact beyond the digits of a double, with the decimals of the currency', () => {
    assert.equal(sumOf(['9007199254740993.01', '0.99']), '9007199254740994.00');
    assert.equal(sumOf(['0.05', '0.01']), '0.06');
    assert.equal(sumOf(['-0.07', '0.02']), '-0.05');
    assert.equal(sumOf(['100', '23']), '123');
  });
});
