import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { eventually, exitOf, freePort } from '../../test/support/processes.ts';
import { queriesOf } from '../dashboards.ts';
import type { Services } from './services.ts';

const scrapeSeconds = 5;

interface Episode {
  readonly name: string;
  readonly began: number;
  ended: number;
}

/** The time before a fault that a panel is compared with. */
const beforeSeconds = 60;
/** Consequences of a fault show after it: rates are those of minutes. */
const afterSeconds = 60;

/** The least and the most of all series of a query. */
interface Extremes {
  readonly least: number;
  readonly most: number;
}

/** A Prometheus with the rules of ops/prometheus that scrapes the services. */
export class Watch {
  readonly #prometheus: ChildProcess;
  readonly #address: string;
  readonly #queries: ReturnType<typeof queriesOf>;
  readonly #episodes: Episode[] = [];
  readonly #started = Date.now();

  private constructor(prometheus: ChildProcess, address: string, dashboards: string) {
    this.#prometheus = prometheus;
    this.#address = address;
    this.#queries = queriesOf(dashboards);
  }

  static async start({
    folder,
    rules,
    dashboards,
    services,
  }: {
    readonly folder: string;
    readonly rules: string;
    readonly dashboards: string;
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
    return new Watch(prometheus, address, dashboards);
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

  /** The panels of the dashboards that each episode moved, and the alerts with the minute in which each began to fire. */
  async report(say: (text: string) => void): Promise<void> {
    for (const { name, began, ended } of this.#episodes) {
      say(`dashboards during ${name}, of ${this.#queries.length} queries:`);
      const [start, end] = [began / 1_000, ended / 1_000 + afterSeconds];
      for (const { place, expr } of this.#queries) {
        const before = await this.#extremes(expr, start - beforeSeconds, start);
        const during = await this.#extremes(expr, start, end);
        if (hasMoved(before, during)) say(`  ${place}: ${textOf(before)} before, ${textOf(during)} during`);
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

  async #extremes(query: string, start: number, end: number): Promise<Extremes | undefined> {
    const range = `start=${start}&end=${end}&step=${scrapeSeconds}`;
    const series = await this.#query(`query_range?query=${encodeURIComponent(query)}&${range}`);
    const values = series
      .flatMap((one) => one.values ?? [])
      .map(([, value]) => Number(value))
      .filter((value) => !Number.isNaN(value));
    return values.length === 0 ? undefined : { least: Math.min(...values), most: Math.max(...values) };
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

/** More than twice the most before, or less than half of the least; or a panel that gets or loses its line. */
function hasMoved(before: Extremes | undefined, during: Extremes | undefined): boolean {
  if (before === undefined || during === undefined) return before !== during;
  return during.most > 2 * before.most || during.least < before.least / 2;
}

function textOf(extremes: Extremes | undefined): string {
  if (extremes === undefined) return 'nothing';
  const text = (value: number) => String(Number(value.toPrecision(3)));
  const [least, most] = [text(extremes.least), text(extremes.most)];
  return least === most ? least : `${least} to ${most}`;
}
