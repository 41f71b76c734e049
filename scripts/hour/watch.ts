import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually, exitOf, freePort } from '../../test/support/processes.ts';
import type { Services } from './services.ts';

const scrapeSeconds = 5;

interface Episode {
  readonly name: string;
  readonly began: number;
  ended: number;
}

/** Lines of the dashboards that a fault may move. */
const lines: readonly (readonly [title: string, query: string])[] = [
  ['processes that respond to Prometheus', 'min_over_time(sum(up)[WINDOW:])'],
  ['database seen by a process', 'min_over_time(min(sharedraft_database_up)[WINDOW:])'],
  ['errors, highest share', 'max_over_time(sharedraft:errors:ratio_rate5m[WINDOW])'],
  ['orders without outcome', 'sum(increase(sharedraft_problems_total{code="outcome_unknown"}[WINDOW]))'],
  ['clocks apart, seconds', 'max_over_time(max(abs(sharedraft_clock_offset_seconds))[WINDOW:])'],
  ['commits delayed', 'max_over_time(max(sharedraft_commits_delayed)[WINDOW:])'],
];

/** A Prometheus with the rules of ops/prometheus that scrapes the services. */
export class Watch {
  readonly #prometheus: ChildProcess;
  readonly #address: string;
  readonly #episodes: Episode[] = [];
  readonly #started = Date.now();

  private constructor(prometheus: ChildProcess, address: string) {
    this.#prometheus = prometheus;
    this.#address = address;
  }

  static async start({
    folder,
    rules,
    services,
  }: {
    readonly folder: string;
    readonly rules: string;
    readonly services: Services;
  }): Promise<Watch> {
    const config = path.join(folder, 'prometheus.yml');
    const files = readdirSync(rules).filter((name) => name.endsWith('.rules.yml'));
    // JSON is YAML.
    writeFileSync(
      config,
      JSON.stringify({
        global: { scrape_interval: `${scrapeSeconds}s`, evaluation_interval: `${scrapeSeconds}s` },
        rule_files: files.map((name) => path.join(rules, name)),
        scrape_configs: [{ job_name: 'sharedraft', static_configs: [{ targets: services.metrics }] }],
      }),
    );
    const port = await freePort();
    const prometheus = spawn(
      'prometheus',
      [
        `--config.file=${config}`,
        `--storage.tsdb.path=${path.join(folder, 'prometheus')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      { stdio: 'ignore' },
    );
    const address = `http://127.0.0.1:${port}`;
    await eventually('Prometheus', async () => (await fetch(`${address}/-/ready`)).ok);
    return new Watch(prometheus, address);
  }

  began(name: string): void {
    this.#episodes.push({ name, began: Date.now(), ended: Date.now() });
  }

  ended(): void {
    const episode = this.#episodes.at(-1);
    if (episode) episode.ended = Date.now();
  }

  async #query(path: string): Promise<Result[]> {
    const response = await fetch(`${this.#address}/api/v1/${path}`);
    const { data } = (await response.json()) as { data?: { result: Result[] } };
    return data?.result ?? [];
  }

  /** The lines of the dashboards in each episode, and the alerts with the minute in which each began to fire. */
  async report(say: (text: string) => void): Promise<void> {
    for (const { name, began, ended } of this.#episodes) {
      say(`dashboards during ${name}:`);
      const window = `${Math.max(15, Math.round((ended - began) / 1_000))}s`;
      for (const [title, query] of lines) {
        const expression = encodeURIComponent(query.replaceAll('WINDOW', window));
        const [result] = await this.#query(`query?query=${expression}&time=${ended / 1_000}`);
        say(`  ${title}: ${result?.value?.[1] ?? 'no value'}`);
      }
    }
    const range = `start=${this.#started / 1_000}&end=${Date.now() / 1_000}&step=${scrapeSeconds}`;
    const firing = await this.#query(
      `query_range?query=${encodeURIComponent('max by (alertname) (ALERTS{alertstate="firing"})')}&${range}`,
    );
    say(firing.length === 0 ? 'No alert fired.' : 'alerts that fired:');
    for (const { metric, values = [] } of firing) {
      const minutes = values.map(([seconds]) => (seconds * 1_000 - this.#started) / 60_000);
      const [first = 0] = minutes;
      say(`  ${metric.alertname}: minutes ${first.toFixed(1)} to ${(minutes.at(-1) ?? first).toFixed(1)}`);
    }
  }

  async stop(): Promise<void> {
    this.#prometheus.kill('SIGTERM');
    await exitOf(this.#prometheus);
  }
}

interface Result {
  readonly metric: { readonly alertname?: string };
  readonly value?: readonly [number, string];
  readonly values?: readonly (readonly [number, string])[];
}
