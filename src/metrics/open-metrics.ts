import type { Family, Labels, Sample } from './registry.ts';

export const openMetricsType = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The text of a scrape (OpenMetrics 1.0). */
export function openMetricsText(families: readonly Family[]): string {
  return `${families.map(familyText).join('')}# EOF\n`;
}

function familyText(family: Family): string {
  // The name of a counter's samples ends in _total, that of its family does not.
  const name = family.kind === 'counter' ? family.name.replace(/_total$/, '') : family.name;
  const unit = /_(seconds|bytes|ratio)$/.exec(name)?.[1];
  const head = [
    `# TYPE ${name} ${family.kind}\n`,
    unit === undefined ? '' : `# UNIT ${name} ${unit}\n`,
    `# HELP ${name} ${escaped(family.help)}\n`,
  ];
  return [...head, ...family.samples.map((sample) => sampleText(name, family, sample))].join('');
}

function sampleText(name: string, { kind, bounds = [] }: Family, sample: Sample): string {
  const { labels, value, counts } = sample;
  if (kind === 'counter') return line(`${name}_total`, labels, value);
  if (counts === undefined) return line(name, labels, value);
  let count = 0;
  const buckets = counts.map((own, at) => {
    count += own;
    const bound = bounds[at];
    return line(`${name}_bucket`, { ...labels, le: bound === undefined ? '+Inf' : floatText(bound) }, count);
  });
  return [...buckets, line(`${name}_count`, labels, count), line(`${name}_sum`, labels, value)].join('');
}

function line(name: string, labels: Labels, value: number): string {
  const inside = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${inside.length === 0 ? '' : `{${inside.join(',')}}`} ${value}\n`;
}

/** A bucket's limit is written as a float: 1 is `1.0`. */
function floatText(value: number): string {
  return Number.isInteger(value) ? value.toFixed(1) : String(value);
}

function escaped(text: string): string {
  return text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}
