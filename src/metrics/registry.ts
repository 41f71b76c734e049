/** A label and its value, in the order of the family's label names. */
export type Labels = Readonly<Record<string, string>>;

export interface Sample {
  readonly labels: Labels;
  readonly value: number;
  /** A histogram's number of observations in each bucket alone; `value` is the sum of the observed values. */
  readonly counts?: readonly number[];
}

/** A metric with its samples, as plain data: workers send it to the first process. */
export interface Family {
  readonly name: string;
  readonly kind: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  /** Upper limits of a histogram's buckets; the last bucket has none. */
  readonly bounds?: readonly number[];
  /** The figure of several workers together. */
  readonly together: 'sum' | 'max';
  readonly samples: readonly Sample[];
}

interface Description {
  readonly name: string;
  readonly help: string;
}

/** One line of a gauge or counter that is read at a scrape. */
export type Reading = readonly [labels: Labels, value: number];

/** Seconds. Those of OpenTelemetry's semantic conventions for durations. */
const durationBounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10] as const;

/**
 * The metrics of one process. Counting allocates nothing after the first observation of a series. Values that exist
 * anyway, such as the length of a queue, are read at a scrape.
 */
export class Registry {
  readonly #families = new Map<string, () => Family>();

  /** `labelNames` must have few values: no account, member or institution. */
  counter({ name, help }: Description, ...labelNames: readonly string[]): Series<Counter> {
    const series = begun(new Series(labelNames, () => new Counter()), labelNames);
    this.#add({ name, help, kind: 'counter', together: 'sum' }, () =>
      series.all().map(([labels, { value }]) => ({ labels, value })),
    );
    return series;
  }

  histogram(
    { name, help, bounds = durationBounds }: Description & { readonly bounds?: readonly number[] },
    ...labelNames: readonly string[]
  ): Series<Histogram> {
    const series = begun(new Series(labelNames, () => new Histogram(bounds)), labelNames);
    this.#add({ name, help, kind: 'histogram', together: 'sum', bounds }, () =>
      series.all().map(([labels, { sum, counts }]) => ({ labels, value: sum, counts: [...counts] })),
    );
    return series;
  }

  /** Reads the value at each scrape; undefined: there is none. */
  gauge(
    { name, help, together = 'sum' }: Description & { readonly together?: Family['together'] },
    read: () => number | undefined | readonly Reading[],
  ): void {
    this.#add({ name, help, kind: 'gauge', together }, () => samplesOf(read()));
  }

  /** A count that another part keeps, read at each scrape. */
  readCounter(description: Description, read: () => number | readonly Reading[]): void {
    this.#add({ ...description, kind: 'counter', together: 'sum' }, () => samplesOf(read()));
  }

  read(): Family[] {
    return [...this.#families.values()].map((read) => read());
  }

  #add(family: Omit<Family, 'samples'>, samples: () => readonly Sample[]): void {
    if (this.#families.has(family.name)) throw new Error(`metrics: two families are called ${family.name}`);
    this.#families.set(family.name, () => ({ ...family, samples: samples() }));
  }
}

/** A series without labels is there from the start, at 0. */
function begun<Metric>(series: Series<Metric>, labelNames: readonly string[]): Series<Metric> {
  if (labelNames.length === 0) series.with();
  return series;
}

function samplesOf(read: number | undefined | readonly Reading[]): Sample[] {
  if (read === undefined) return [];
  if (typeof read === 'number') return [{ labels: {}, value: read }];
  return read.map(([labels, value]) => ({ labels, value }));
}

export class Counter {
  value = 0;

  add(count = 1): void {
    this.value += count;
  }
}

export class Histogram {
  readonly counts: Float64Array;
  readonly #bounds: readonly number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let bucket = 0;
    while (bucket < this.#bounds.length && value > (this.#bounds[bucket] as number)) bucket += 1;
    this.counts[bucket] = (this.counts[bucket] as number) + 1;
    this.sum += value;
  }
}

/** The series of a family, by the values of its labels. */
export class Series<Metric> {
  readonly #names: readonly string[];
  readonly #make: () => Metric;
  /** A map in a map for each label: a joined key would be a new string for each observation. */
  readonly #root = new Map<string, unknown>();
  readonly #all: [Labels, Metric][] = [];

  constructor(names: readonly string[], make: () => Metric) {
    this.#names = names;
    this.#make = make;
  }

  with(...values: readonly string[]): Metric {
    let node = this.#root;
    const last = this.#names.length - 1;
    for (let at = 0; at < last; at++) {
      let next = node.get(values[at] as string) as Map<string, unknown> | undefined;
      if (next === undefined) {
        next = new Map();
        node.set(values[at] as string, next);
      }
      node = next;
    }
    const key = last < 0 ? '' : (values[last] as string);
    let metric = node.get(key) as Metric | undefined;
    if (metric === undefined) {
      metric = this.#make();
      node.set(key, metric);
      this.#all.push([Object.fromEntries(this.#names.map((name, at) => [name, values[at] ?? ''])), metric]);
    }
    return metric;
  }

  all(): readonly (readonly [Labels, Metric])[] {
    return this.#all;
  }
}

/** The families of several processes as one: counters and histograms add up, a gauge as its description says. */
export function addUp(processes: readonly (readonly Family[])[]): Family[] {
  const together = new Map<string, { readonly family: Family; readonly samples: Map<string, Sample> }>();
  for (const family of processes.flat()) {
    const known = together.get(family.name) ?? { family, samples: new Map<string, Sample>() };
    together.set(family.name, known);
    for (const sample of family.samples) {
      const key = JSON.stringify(sample.labels);
      const before = known.samples.get(key);
      known.samples.set(key, before === undefined ? sample : merged(before, sample, family.together));
    }
  }
  return [...together.values()].map(({ family, samples }) => ({ ...family, samples: [...samples.values()] }));
}

function merged(one: Sample, other: Sample, together: Family['together']): Sample {
  return {
    labels: one.labels,
    value: together === 'max' ? Math.max(one.value, other.value) : one.value + other.value,
    ...(one.counts && { counts: one.counts.map((count, at) => count + (other.counts?.[at] ?? 0)) }),
  };
}

/** The counts of an ended worker. Its gauges describe a process that no longer exists. */
export function countsOf(families: readonly Family[]): Family[] {
  return families.filter(({ kind }) => kind !== 'gauge');
}
