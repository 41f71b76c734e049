import assert from 'node:assert/strict';

/** The samples of a scrape by their series, as `name{label="value"}`. */
export type Scrape = ReadonlyMap<string, number>;

export async function scrape(metricsAddress: string | undefined): Promise<Scrape> {
  const response = await fetch(`${metricsAddress}/metrics`);
  assert.equal(response.status, 200);
  return samplesOf(await response.text());
}

function samplesOf(text: string): Scrape {
  assert.match(text, /# EOF\n$/);
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

/** The sum over all series with this name and these labels. */
export function sumOf(samples: Scrape, name: string, ...labels: readonly string[]): number {
  let sum = 0;
  for (const [series, value] of samples) {
    const [own] = series.split('{', 1);
    if (own === name && labels.every((label) => series.includes(label))) sum += value;
  }
  return sum;
}
