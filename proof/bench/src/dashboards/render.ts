import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { launchChromium } from '@svc-asr/testing/chromium.ts';
import { readRules, shortConfiguration } from '@svc-asr/testing/monitoring-files.ts';
import { Prometheus, type Series } from '@svc-asr/testing/prometheus.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { Call } from '../service/call.ts';
import { Fleet, type Tenant } from '../service/fleet.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/**
 * Draws the bundled dashboards from a Prometheus that scrapes a service under load, without Grafana:
 * `node proof/bench/src/dashboards/render.ts FOLDER`. Shows which panels have no data.
 */
const DASHBOARDS = new URL('../../../../deploy/monitoring/dashboards/', import.meta.url);
const LOAD_MS = 60_000;
const CALLERS = 6;
const TOKEN = 'look';
const COLOURS = ['#5794f2', '#73bf69', '#fade2a', '#ff9830', '#f2495c', '#b877d9', '#8ab8ff'];

interface Panel {
  readonly title: string;
  readonly type: string;
  readonly gridPos: {
    readonly x: number;
    readonly y: number;
    readonly w: number;
    readonly h: number;
  };
  readonly fieldConfig: { readonly defaults: { readonly unit?: string } };
  readonly targets: readonly { readonly expr: string; readonly legendFormat: string }[];
}

interface Drawn {
  readonly legend: string;
  readonly values: Series['values'];
}

const folder = process.argv[2] ?? 'dashboards';
await mkdir(folder, { recursive: true });
const fleet = await Fleet.start();
const service = await fleet.launch({ METRICS_TOKEN: TOKEN });
const prometheus = await Prometheus.start({
  'prometheus.yml': shortConfiguration({
    'svc-asr': { target: new URL(service.url).host, token: TOKEN },
  }),
  ...(await readRules()),
});
const browser = await launchChromium();
try {
  const fromS = Date.now() / 1000;
  const tenants = await fleet.addTenants(CALLERS, 3_600_000);
  const deadlineMs = performance.now() + LOAD_MS;
  await Promise.all(tenants.map((tenant) => talk(service, tenant, deadlineMs)));
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  for (const file of await readdir(DASHBOARDS)) {
    const text = await readFile(new URL(file, DASHBOARDS), 'utf8');
    const { title, panels }: { title: string; panels: Panel[] } = JSON.parse(text);
    const toS = Date.now() / 1000;
    const drawn = await Promise.all(panels.map((panel) => draw(panel, { fromS, toS })));
    await page.setContent(pageOf(title, drawn));
    const picture = join(folder, file.replace('.json', '.png'));
    await page.screenshot({ path: picture, fullPage: true });
    const empty = panels.filter((_, at) => drawn[at]?.includes('no data')).map((one) => one.title);
    process.stdout.write(`${picture}: ${panels.length} panels, no data: ${empty.join(', ')}\n`);
  }
} finally {
  await browser.close();
  await prometheus.stop();
  await fleet.stop();
}

/** Streams in real time with occasional flushes, in one session after another. */
async function talk(to: ServiceProcess, tenant: Tenant, deadlineMs: number): Promise<void> {
  const { model, pcm } = speech('kikuyu-2');
  while (performance.now() < deadlineMs) {
    const call = await Call.open(to, tenant, { model });
    await call.speak(pcm);
    await call.hangUp();
  }
}

async function draw(panel: Panel, { fromS, toS }: { fromS: number; toS: number }): Promise<string> {
  const lines: Drawn[] = [];
  for (const { expr, legendFormat } of panel.targets) {
    const found = await prometheus.range(expr, { from: fromS, to: toS, step: 1 });
    for (const { metric, values } of found) {
      const legend = legendFormat.replaceAll(
        /\{\{(\w+)\}\}/g,
        (_, name: string) => metric[name] ?? '',
      );
      const finite = values.filter(([, value]) => Number.isFinite(value));
      if (finite.length > 0) lines.push({ legend, values: finite });
    }
  }
  const { x, y, w, h } = panel.gridPos;
  const place = `left:${x * 60}px;top:${y * 30 + 50}px;width:${w * 60 - 12}px;height:${h * 30 - 12}px`;
  const unit = panel.fieldConfig.defaults.unit ?? 'short';
  const body =
    lines.length === 0
      ? '<p class="none">no data</p>'
      : panel.type === 'stat'
        ? stat(lines, unit)
        : chart(lines, { fromS, toS, unit, width: w * 60 - 32 });
  return `<section style="${place}"><h2>${panel.title}</h2>${body}</section>`;
}

function stat(lines: readonly Drawn[], unit: string): string {
  const last = lines.map(
    ({ legend, values }) => `${present(values.at(-1)?.[1] ?? 0, unit)} <small>${legend}</small>`,
  );
  return `<p class="stat">${last.join('<br>')}</p>`;
}

function chart(
  lines: readonly Drawn[],
  { fromS, toS, unit, width }: { fromS: number; toS: number; unit: string; width: number },
): string {
  const height = 110;
  const most = Math.max(...lines.flatMap(({ values }) => values.map(([, value]) => value)), 1e-9);
  const paths = lines.map(({ values }, at) => {
    const points = values.map(([atS, value]) => {
      const x = ((atS - fromS) / (toS - fromS)) * width;
      return `${x.toFixed(1)},${(height - (value / most) * height).toFixed(1)}`;
    });
    const colour = COLOURS[at % COLOURS.length];
    return `<polyline fill="none" stroke="${colour}" stroke-width="1.5" points="${points.join(' ')}"/>`;
  });
  const legend = lines
    .slice(0, 8)
    .map(
      ({ legend: name }, at) =>
        `<span style="color:${COLOURS[at % COLOURS.length]}">${name}</span>`,
    );
  return (
    `<small>${present(most, unit)}</small>` +
    `<svg width="${width}" height="${height}">${paths.join('')}</svg><div>${legend.join(' ')}</div>`
  );
}

function present(value: number, unit: string): string {
  if (unit === 's') return value < 1 ? `${(value * 1000).toFixed(1)} ms` : `${value.toFixed(2)} s`;
  if (unit === 'percentunit') return `${(value * 100).toFixed(2)} %`;
  if (unit === 'bytes') return `${(value / 1024 / 1024).toFixed(1)} MiB`;
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}

function pageOf(title: string, panels: readonly string[]): string {
  return `<!doctype html><meta charset="utf-8"><style>
    body { background: #111217; color: #ccccdc; font: 12px sans-serif; width: 1440px; height: 1350px; position: relative; margin: 0 }
    h1 { font-size: 18px; padding: 12px; margin: 0 } h2 { font-size: 12px; margin: 0 0 4px }
    section { position: absolute; background: #181b1f; padding: 8px; box-sizing: border-box; overflow: hidden; border: 1px solid #333 }
    .stat { font-size: 20px; margin: 2px 0; line-height: 20px } .stat small { font-size: 12px } .none { color: #777 } small { color: #999 }
    svg { display: block } div span { margin-right: 8px; font-size: 10px }
  </style><h1>${title}</h1>${panels.join('')}`;
}
