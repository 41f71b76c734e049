import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clockOffsetSeconds, DatabaseFigures } from './database-figures.ts';
import { openMetricsText } from './open-metrics.ts';
import { addUp, countsOf, Registry } from './registry.ts';

const lines = (registry: Registry) =>
  openMetricsText(registry.read())
    .split('\n')
    .filter((line) => !line.startsWith('# HELP'));

test('writes a counter, a gauge and a histogram as OpenMetrics text', () => {
  const registry = new Registry();
  const answers = registry.counter({ name: 'answers_total', help: 'h' }, 'kind', 'code');
  answers.with('a', 'x').add();
  answers.with('a', 'x').add(2);
  answers.with('b', 'quote " backslash \\ line\nend').add();
  registry.gauge({ name: 'age_seconds', help: 'h' }, () => 1.5);
  registry.gauge({ name: 'absent', help: 'h' }, () => undefined);
  const sizes = registry.histogram({ name: 'sizes', help: 'h', bounds: [1, 2.5] });
  for (const size of [1, 2, 3, 4]) sizes.with().observe(size);
  assert.deepEqual(lines(registry), [
    '# TYPE answers counter',
    'answers_total{kind="a",code="x"} 3',
    'answers_total{kind="b",code="quote \\" backslash \\\\ line\\nend"} 1',
    '# TYPE age_seconds gauge',
    '# UNIT age_seconds seconds',
    'age_seconds 1.5',
    '# TYPE absent gauge',
    '# TYPE sizes histogram',
    'sizes_bucket{le="1.0"} 1',
    'sizes_bucket{le="2.5"} 2',
    'sizes_bucket{le="+Inf"} 4',
    'sizes_count 4',
    'sizes_sum 10',
    '# EOF',
    '',
  ]);
});

test('a counter without labels is 0 before its first event', () => {
  const registry = new Registry();
  registry.counter({ name: 'events_total', help: 'h' });
  assert.ok(lines(registry).includes('events_total 0'));
});

test('refuses two families of one name', () => {
  const registry = new Registry();
  registry.gauge({ name: 'one', help: 'h' }, () => 1);
  assert.throws(() => registry.counter({ name: 'one', help: 'h' }), /two families are called one/);
});

test('adds up the counters and histograms of several processes, and keeps the worst of a maximum', () => {
  const process = (count: number, delay: number, size: number) => {
    const registry = new Registry();
    registry.counter({ name: 'events_total', help: 'h' }, 'kind').with('a').add(count);
    registry.gauge({ name: 'delay', help: 'h', together: 'max' }, () => delay);
    registry.gauge({ name: 'memory', help: 'h' }, () => 10);
    registry
      .histogram({ name: 'sizes', help: 'h', bounds: [1] })
      .with()
      .observe(size);
    // As a worker sends it.
    return JSON.parse(JSON.stringify(registry.read()));
  };
  const ended = countsOf(process(100, 50, 1));
  const text = openMetricsText(addUp([process(1, 3, 1), process(2, 7, 2), ended]));
  for (const line of [
    'events_total{kind="a"} 103',
    'delay 7',
    'memory 20',
    'sizes_bucket{le="1.0"} 2',
    'sizes_sum 4',
  ]) {
    assert.ok(text.includes(`\n${line}\n`), `${line} in ${text}`);
  }
});

test('a silent database does not hold up a scrape, and its figures are left out', {
  timeout: 10_000,
}, async () => {
  const registry = new Registry();
  const { promise, reject } = Promise.withResolvers<never>();
  let questions = 0;
  const figures = new DatabaseFigures(
    {
      directory: () => {
        questions += 1;
        return promise;
      },
    },
    () => new Date(),
  );
  figures.register(registry);
  const startedAt = performance.now();
  await Promise.all([figures.refresh(), figures.refresh()]);
  assert.ok(performance.now() - startedAt < 4_000);
  assert.equal(questions, 1);
  assert.ok(lines(registry).includes('sharedraft_database_up 0'));
  assert.ok(!lines(registry).some((line) => line.startsWith('sharedraft_transfers_due ')));
  reject(new Error('lost'));
});

for (const [what, told, seconds] of [
  ['within the question', 5, 0],
  ['before it', -3_600, 3_600],
  ['after it', 70, -60],
] as const) {
  test(`clocks differ by ${seconds} s if the database tells a time ${what}`, () => {
    const at = (second: number) => new Date(second * 1_000);
    assert.equal(clockOffsetSeconds({ asked: at(0), told: at(told), heard: at(10) }), seconds);
  });
}
