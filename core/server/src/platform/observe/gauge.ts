import { Gauge, type Registry } from 'prom-client';

/** Registers a gauge that is read at each scrape, not updated on each change. */
export function readGauge(
  registry: Registry,
  metric: { readonly name: string; readonly help: string; readonly read: () => number },
): void {
  const { name, help, read } = metric;
  const gauge: Gauge = new Gauge({
    name,
    help,
    registers: [registry],
    collect: () => gauge.set(read()),
  });
}
