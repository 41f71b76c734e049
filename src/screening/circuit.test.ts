import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Circuit } from './circuit.ts';

function aCircuit() {
  const clock = { now: 0 };
  const circuit = new Circuit(() => clock.now);
  const fail = (times: number) => {
    for (let time = 0; time < times; time += 1) circuit.note(false);
  };
  return { circuit, clock, fail };
}

test('a circuit asks until five questions in a row got no answer', () => {
  const { circuit, fail } = aCircuit();
  fail(4);
  assert.equal(circuit.mayAsk(), true);
  circuit.note(true);
  fail(4);
  assert.equal(circuit.mayAsk(), true);
  assert.equal(circuit.note(false), true);
  assert.equal(circuit.mayAsk(), false);
});

test('a circuit lets one question through after the pause, and all of them after its answer', () => {
  const { circuit, clock, fail } = aCircuit();
  fail(5);
  clock.now = 9_999;
  assert.equal(circuit.mayAsk(), false);
  clock.now = 10_000;
  assert.deepEqual([circuit.mayAsk(), circuit.mayAsk()], [true, false]);
  assert.equal(circuit.note(true), true);
  assert.deepEqual([circuit.mayAsk(), circuit.mayAsk()], [true, true]);
});

test('a circuit stays paused if the one question has no answer', () => {
  const { circuit, clock, fail } = aCircuit();
  fail(5);
  clock.now = 10_000;
  assert.equal(circuit.mayAsk(), true);
  assert.equal(circuit.note(false), false);
  assert.equal(circuit.mayAsk(), false);
  clock.now = 20_000;
  assert.equal(circuit.mayAsk(), true);
});
