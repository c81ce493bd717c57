import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Metric {
  readonly name: string;
  readonly type: string;
  readonly labels: readonly string[];
  readonly help: string;
}

const GROUPS: readonly (readonly [title: string, prefix: RegExp])[] = [
  ['HTTP API', /^svc_(http|rate|accounts|key)_/],
  ['Streams', /^svc_(streams?|node|closes|lease)_/],
  ['Recognisers', /^svc_engine_/],
  ['Database and ledger', /^svc_(database|ledger|sweeper)_/],
  ['Process', /^svc_/],
];

/** Returns docs/reference/metrics.md, from the metrics that the source declares. */
export function metricsPage(root: string): string {
  let left = findMetrics(root);
  const sections = GROUPS.flatMap(([title, prefix]) => {
    const own = left.filter(({ name }) => prefix.test(name));
    left = left.filter((metric) => !own.includes(metric));
    return [
      `## ${title}`,
      '',
      '| metric | type | labels | meaning |',
      '|---|---|---|---|',
      ...own.map(row),
      '',
    ];
  });
  return [...INTRODUCTION, ...sections].join('\n');
}

const INTRODUCTION = [
  '# Metrics',
  '',
  'Every metric that the service exports, with its help text. Generated from the source by `npm run docs`, and compared with running processes by a',
  'test. Labels are closed sets: a metric never contains an id, a key, audio or text. A process with recognisers exports those of recognisers:',
  'an engine node, or the service itself without `ENGINE_ADDRESSES`. How to scrape them is in [Monitoring](../operations/monitoring.md).',
  '',
];

function row({ name, type, labels, help }: Metric): string {
  return `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} |`;
}

const DECLARATION =
  /'(svc_\w+)',\s*(?:help:\s*)?'((?:[^'\\]|\\.)*)'(?:,\s*labelNames: \[([^\]]*)\])?/g;
const KIND = /(histogram|gauge|counter)s?\b/gi;
/** How far before its name the kind of a metric is declared. */
const KIND_CHARS = 120;

function findMetrics(root: string): Metric[] {
  const metrics: Metric[] = [];
  for (const folder of ['core/server/src', 'core/engine/src']) {
    for (const file of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
      if (!file.endsWith('.ts') || file.endsWith('.test.ts')) continue;
      const text = readFileSync(join(root, folder, file), 'utf8');
      for (const match of text.matchAll(DECLARATION)) {
        const [, name = '', help = '', labels = ''] = match;
        const kinds = [
          ...text.slice(Math.max(0, match.index - KIND_CHARS), match.index).matchAll(KIND),
        ];
        metrics.push({
          name,
          type: kinds.at(-1)?.[1]?.toLowerCase() ?? 'histogram',
          labels: [...labels.matchAll(/'(\w+)'/g)].map(([, label = '']) => label),
          help: help.replaceAll("\\'", "'"),
        });
      }
    }
  }
  return metrics.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}
