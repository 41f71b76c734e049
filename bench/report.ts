import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { handTool } from './by-hand/index.ts';
import type { Figure, Pace } from './measure.ts';
import { steadyClient } from './wrk/index.ts';

export interface Measured {
  readonly name: string;
  readonly title: string;
  readonly figures: readonly Figure[];
}

export interface Setting {
  readonly machine: string;
  readonly busy: string;
  readonly versions: string;
  readonly settings: string;
  readonly measuredAt: string;
  readonly commit: string;
}

const results = fileURLToPath(new URL('results', import.meta.url));

export async function describeSetting(pace: Pace, postgres: string): Promise<Setting> {
  const cpus = os.cpus();
  const [load = 0] = os.loadavg();
  const undici = JSON.parse(
    await readFile(new URL('../node_modules/undici/package.json', import.meta.url), 'utf8'),
  );
  const commit = orUnknown(() =>
    execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim(),
  );
  return {
    machine: `${cpus.length} × ${cpus[0]?.model.trim()}, ${Math.round(os.totalmem() / 2 ** 30)} GiB, ${os.type()} ${os.release()}; service, database and client share it`,
    busy:
      load > 0.5
        ? `other work ran on the machine (load ${load.toFixed(1)} before the start): ratios count, figures are low`
        : 'no other work ran on the machine',
    versions: `Node ${process.versions.node}, PostgreSQL ${postgres}, client ${steadyClient}undici ${undici.version}, handwritten transactions ${handTool}`,
    settings: `fsync, full_page_writes and synchronous_commit on; LOG_LEVEL=warn, otherwise defaults; ${pace.seconds} s per measurement, medians of ${pace.rounds} rounds in turns`,
    measuredAt: new Date().toISOString(),
    commit,
  };
}

function orUnknown(read: () => string): string {
  try {
    return read();
  } catch {
    return 'unknown';
  }
}

/** Whether the figure meets its target; undefined without a target. */
function isMet({ ours, ratio, target }: Figure): boolean | undefined {
  if (target === undefined) return undefined;
  const value = ratio ?? ours;
  return (
    value >= (target.atLeast ?? Number.NEGATIVE_INFINITY) &&
    value <= (target.atMost ?? Number.POSITIVE_INFINITY)
  );
}

function short(value: number): string {
  if (value >= 1000) return Math.round(value).toLocaleString('en-US');
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function targetOf({ target, ratio }: Figure): string {
  if (target === undefined) return '';
  const times = ratio === undefined ? '' : '×';
  return target.atLeast !== undefined ? `≥ ${target.atLeast}${times}` : `≤ ${target.atMost}${times}`;
}

/** A table for the terminal: one line per figure, under the title of its row. */
export function asTable(setting: Setting, rows: readonly Measured[]): string {
  const lines = [setting.machine, setting.busy, setting.versions, setting.settings, ''];
  for (const { name: row, title, figures } of rows) {
    lines.push(`${row}: ${title}`);
    for (const figure of figures) {
      const { name, ours, unit, against, ratio, note } = figure;
      const mark = { true: '✓', false: '✗', undefined: ' ' }[String(isMet(figure))] ?? ' ';
      const parts = [
        `  ${mark} ${name.padEnd(46)}`,
        `${short(ours)} ${unit}`.padStart(20),
        (ratio === undefined ? '' : `${ratio.toFixed(2)}×`).padStart(8),
        targetOf(figure).padStart(9),
        against === undefined ? '' : `  ${against.name}: ${short(against.value)}`,
      ];
      lines.push(parts.join('').trimEnd());
      if (note !== undefined) lines.push(`      ${note}`);
    }
  }
  return lines.join('\n');
}

export async function writeResults(
  setting: Setting,
  rows: readonly Measured[],
  name: string,
): Promise<string> {
  await mkdir(results, { recursive: true });
  await writeFile(path.join(results, `${name}.json`), `${JSON.stringify({ ...setting, rows }, null, 2)}\n`);
  await writeFile(path.join(results, `${name}.svg`), asPicture(setting, rows));
  return path.join('bench', 'results', name);
}

/** Each ratio as a bar, with a stroke at its target. */
function asPicture(setting: Setting, rows: readonly Measured[]): string {
  const bars = rows.flatMap(({ name, figures }) =>
    figures.flatMap((figure) =>
      figure.ratio === undefined || figure.target === undefined
        ? []
        : [{ name, figure, ratio: figure.ratio }],
    ),
  );
  const [labelWidth, barWidth, lineHeight, top] = [330, 420, 26, 64];
  const most = Math.max(1, ...bars.map(({ ratio, figure }) => Math.max(ratio, figure.target?.atLeast ?? 0)));
  // Square roots, so that a ratio of 10 leaves room to see one of 0.4.
  const x = (ratio: number) => labelWidth + barWidth * Math.sqrt(Math.max(0, ratio) / most);
  const lines = bars.map(({ name, figure, ratio }, index) => {
    const y = top + index * lineHeight;
    const goal = figure.target?.atLeast ?? 0;
    return `<text x="${labelWidth - 8}" y="${y + 13}" text-anchor="end">${escapeXml(`${name}: ${figure.name} / ${figure.against?.name ?? ''}`.slice(0, 56))}</text>
<rect x="${labelWidth}" y="${y}" width="${(x(ratio) - labelWidth).toFixed(1)}" height="17" fill="${isMet(figure) ? '#2a7f62' : '#c2553a'}"/>
<line x1="${x(goal).toFixed(1)}" x2="${x(goal).toFixed(1)}" y1="${y - 3}" y2="${y + 20}" stroke="#222" stroke-width="2"/>
<text x="${Math.max(x(ratio), x(goal)) + 8}" y="${y + 13}">${ratio.toFixed(2)}×</text>`;
  });
  const height = top + bars.length * lineHeight + 28;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${labelWidth + barWidth + 80}" height="${height}" font-family="sans-serif" font-size="12">
<title>The service's figures, as ratios to the programs that it is compared with</title>
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="22" font-size="15" font-weight="bold">Ratios in one run; the stroke is the target</text>
<text x="12" y="40" fill="#555">${escapeXml(setting.machine)}</text>
<text x="12" y="54" fill="#555">${escapeXml(`${setting.versions}; ${setting.busy}`)}</text>
${lines.join('\n')}
</svg>
`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
