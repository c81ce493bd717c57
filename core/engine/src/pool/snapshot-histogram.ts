import { Histogram, type Registry } from 'prom-client';
import type { Distribution } from './decode-figures.ts';

/** Registers a histogram whose values are counted elsewhere, which prom-client doesn't support. */
export function registerSnapshotHistogram(input: {
  readonly name: string;
  readonly help: string;
  readonly bounds: readonly number[];
  readonly registry: Registry;
  readonly read: () => Distribution;
}): void {
  const { name, help, bounds, registry, read } = input;
  const histogram = new Histogram({ name, help, buckets: [...bounds], registers: [registry] });
  // The registry calls this method, which is missing in prom-client's types.
  Reflect.set(histogram, 'getForPromString', async () => ({
    name,
    help,
    type: 'histogram',
    aggregator: 'sum',
    values: series(name, bounds, read()),
  }));
}

function series(name: string, bounds: readonly number[], { counts, sum }: Distribution): object[] {
  let below = 0;
  const buckets = counts.map((counted, at) => {
    below += counted;
    const le = bounds[at] ?? '+Inf';
    return { metricName: `${name}_bucket`, labels: { le }, value: below };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: sum },
    { metricName: `${name}_count`, labels: {}, value: below },
  ];
}
