/** The help texts of a process's counters and gauges, by name. */
export interface MetricNames<Counter extends string, Gauge extends string> {
  readonly counters: Readonly<Record<Counter, string>>;
  readonly gauges: Readonly<Record<Gauge, string>>;
}

/** Counters and gauges in Prometheus' text format. Labels are closed sets: never an id, never anything a caller sent. */
export class TextMetrics<
  Counter extends string,
  Gauge extends string,
  Label extends Readonly<Record<string, string>>,
> {
  readonly #names: MetricNames<Counter, Gauge>;
  readonly #counts = new Map<string, number>();
  readonly #gauges = new Map<Gauge, () => number>();

  constructor(names: MetricNames<Counter, Gauge>) {
    this.#names = names;
  }

  count(name: Counter, label: Label | null = null, by = 1): void {
    const series = name + written(label);
    this.#counts.set(series, (this.#counts.get(series) ?? 0) + by);
  }

  gauge(name: Gauge, read: () => number): void {
    this.#gauges.set(name, read);
  }

  text(): string {
    const counters = Object.entries<string>(this.#names.counters).map(([name, help]) => {
      const lines = [...this.#counts].filter(([series]) => series.split('{')[0] === name);
      return block(name, { help, type: 'counter', lines });
    });
    const gauges = Object.entries<string>(this.#names.gauges).map(([name, help]) => {
      const lines = [...this.#gauges].filter(([gauge]) => gauge === name);
      return block(name, { help, type: 'gauge', lines: lines.map(([, read]) => [name, read()]) });
    });
    return [...counters, ...gauges].join('');
  }
}

function written(label: Readonly<Record<string, string>> | null): string {
  if (label === null) return '';
  const pairs = Object.entries(label).map(([name, value]) => `${name}="${value}"`);
  return `{${pairs.join(',')}}`;
}

function block(
  name: string,
  input: { help: string; type: string; lines: readonly (readonly [string, number])[] },
): string {
  const head = `# HELP ${name} ${input.help}\n# TYPE ${name} ${input.type}\n`;
  return head + input.lines.map(([series, value]) => `${series} ${value}\n`).join('');
}
