import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { scrape } from '../support/scrape.ts';
import { startTestService } from '../support/service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');

async function familiesOfService(): Promise<string[]> {
  await using service = await startTestService({ environment: { METRICS_PORT: '0' } });
  await scrape(service.service.metricsAddress);
  const text = await (await fetch(`${service.service.metricsAddress}/metrics`)).text();
  return [...text.matchAll(/^# TYPE (\S+) /gm)].map(([, name = '']) => name);
}

test('the page on monitoring lists every metric of the service', async () => {
  const page = read('docs/monitoring.md');
  const families = await familiesOfService();
  assert.ok(families.length > 30);
  const isListed = (name: string) =>
    page.includes(`\`${name}\``) ||
    page.includes(`\`${name}_total\``) ||
    page.includes(`\`${name.replace('sharedraft_transfers', '')}\``);
  assert.deepEqual(
    families.filter((name) => !isListed(name)),
    [],
  );
});

test('every metric of the service stands in a dashboard, a rule or an alert', async () => {
  const files = [
    'grafana/bank.json',
    'grafana/service.json',
    'prometheus/recording.rules.yml',
    'prometheus/alerts.rules.yml',
  ];
  const shown = files.map((file) => read(`ops/${file}`)).join('');
  const families = await familiesOfService();
  assert.ok(families.length > 30);
  assert.deepEqual(
    families.filter((name) => !shown.includes(name)),
    [],
  );
});

test('every alert has its first steps on the page on monitoring', () => {
  const page = read('docs/monitoring.md');
  const rules = read('ops/prometheus/alerts.rules.yml');
  const alerts = [...rules.matchAll(/- alert: (\w+)/g)].map(([, name = '']) => name);
  const tests = ['alerts', 'alerts-of-days'].map((name) => read(`ops/prometheus/${name}.test.yml`)).join('');
  assert.ok(alerts.length > 15);
  for (const alert of alerts) {
    assert.ok(page.includes(`#### ${alert}\n`), alert);
    assert.ok(rules.includes(`runbook: docs/monitoring.md#${alert.toLowerCase()}\n`), alert);
    assert.ok(tests.includes(`alertname: ${alert}`), `${alert} has a test`);
  }
});
