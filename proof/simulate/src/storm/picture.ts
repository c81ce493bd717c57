import type { Cell } from './cell.ts';
import type { Measures } from './measures.ts';

const WIDTH = 760;
const LEFT = 150;
const RIGHT = 20;
const ROW = 90;
const TOP = 50;
const GAP = 24;
const BOTTOM = 34;
const FROM_MS = -10_000;

const ROWS = [
  { name: 'requests', label: 'requests a second', colour: '#2563eb' },
  { name: 'waiting', label: 'streams that wait', colour: '#dc2626' },
  { name: 'commits', label: 'commits a second', colour: '#059669' },
  { name: 'queue ms', label: 'database queue, ms', colour: '#7c3aed' },
] as const;

/** Draws requests, waiting streams and database load over time as an SVG. */
export function drawStorm(input: {
  readonly title: string;
  readonly cell: Cell;
  readonly measures: Measures;
  readonly ranMs: number;
}): string {
  const { cell, measures, ranMs } = input;
  const fromMs = measures.stormAtMs + FROM_MS;
  const seconds = Math.floor((ranMs - fromMs) / 1000);
  const x = (second: number): number => LEFT + (second / seconds) * (WIDTH - LEFT - RIGHT);
  const height = TOP + ROWS.length * (ROW + GAP) + BOTTOM;
  const rows = ROWS.flatMap(({ name, label, colour }, at) => {
    const values = cell.series.values(name, fromMs, ranMs).slice(0, seconds);
    const most = Math.max(1, ...values);
    const bottom = TOP + at * (ROW + GAP) + ROW;
    const points = values.map(
      (value, second) => `${x(second).toFixed(1)},${(bottom - (value / most) * ROW).toFixed(1)}`,
    );
    return [
      `<text x="${LEFT - 10}" y="${bottom - ROW / 2}" text-anchor="end">${label}</text>`,
      `<text x="${LEFT - 10}" y="${bottom - ROW + 10}" text-anchor="end" class="small">${Math.round(most)}</text>`,
      `<line x1="${LEFT}" y1="${bottom}" x2="${WIDTH - RIGHT}" y2="${bottom}" stroke="#9ca3af"/>`,
      `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.5"/>`,
    ];
  });
  const stormX = x(-FROM_MS / 1000).toFixed(1);
  const ticks = Array.from({ length: Math.floor(seconds / 10) + 1 }, (_, at) => at * 10).map(
    (second) =>
      `<text x="${x(second).toFixed(1)}" y="${height - 12}" text-anchor="middle" class="small">${second + FROM_MS / 1000} s</text>`,
  );
  const { streams, nodes } = cell.settings;
  return `${[
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12" fill="#374151">`,
    `<style>.small { font-size: 10px; fill: #6b7280 }</style>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="${LEFT}" y="24" font-size="14">${streams} streams on ${nodes} nodes: ${input.title}</text>`,
    `<line x1="${stormX}" y1="${TOP - 8}" x2="${stormX}" y2="${height - BOTTOM}" stroke="#9ca3af" stroke-dasharray="3 3"/>`,
    ...rows,
    ...ticks,
    '</svg>',
  ].join('\n')}\n`;
}
