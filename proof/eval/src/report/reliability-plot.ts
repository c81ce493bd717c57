import type { ConfidenceBin } from '../confidence.ts';

export interface ReliabilitySeries {
  readonly name: string;
  readonly colour: string;
  readonly bins: readonly ConfidenceBin[];
}

const SIDE = 260;
const MARGIN = 44;
const LEGEND_HEIGHT = 18;

/**
 * Draws an SVG: the share of right words over their mean confidence, one dot per bin, larger with more words. Dots on
 * the diagonal mean that a confidence of 0.8 is right 8 times in 10.
 */
export function reliabilityPlot(series: readonly ReliabilitySeries[]): string {
  const height = MARGIN + SIDE + MARGIN + series.length * LEGEND_HEIGHT;
  const ticks = [0, 0.5, 1].flatMap((tick) => [
    `<text x="${x(tick)}" y="${MARGIN + SIDE + 16}" text-anchor="middle">${tick}</text>`,
    `<text x="${MARGIN - 6}" y="${y(tick) + 4}" text-anchor="end">${tick}</text>`,
  ]);
  const label = series
    .map(({ name, bins }) => `${name}: ${bins.filter(hasWords).map(describe).join(', ')}`)
    .join('. ');
  return `<svg viewBox="0 0 ${MARGIN + SIDE + MARGIN} ${height}" width="${MARGIN + SIDE + MARGIN}" role="img" font-size="13"
  aria-label="Share of right words by confidence. ${label}">
<rect x="${MARGIN}" y="${MARGIN}" width="${SIDE}" height="${SIDE}" fill="none" stroke="#a0aec0"/>
<line x1="${x(0)}" y1="${y(0)}" x2="${x(1)}" y2="${y(1)}" stroke="#a0aec0" stroke-dasharray="4 4"/>
${ticks.join('\n')}
<text x="${MARGIN + SIDE / 2}" y="${MARGIN + SIDE + 34}" text-anchor="middle">confidence</text>
<text x="${MARGIN}" y="${MARGIN - 10}">share of right words</text>
${series.map(drawn).join('\n')}
</svg>`;
}

function drawn({ name, colour, bins }: ReliabilitySeries, at: number): string {
  const shown = bins.filter(hasWords);
  const all = shown.reduce((sum, { words }) => sum + words, 0);
  const points = shown.map((bin) => `${x(bin.mean)},${y(bin.right / bin.words)}`);
  const dots = shown.map((bin) => {
    const radius = (3 + 9 * Math.sqrt(bin.words / all)).toFixed(1);
    return `<circle cx="${x(bin.mean)}" cy="${y(bin.right / bin.words)}" r="${radius}" fill="${colour}" fill-opacity="0.6"><title>${name}, ${describe(bin)}</title></circle>`;
  });
  const legendY = MARGIN + SIDE + MARGIN + at * LEGEND_HEIGHT + 10;
  return `<polyline points="${points.join(' ')}" fill="none" stroke="${colour}"/>
${dots.join('\n')}
<circle cx="${MARGIN + 5}" cy="${legendY - 4}" r="5" fill="${colour}"/><text x="${MARGIN + 16}" y="${legendY}">${name}</text>`;
}

function describe({ from, to, words, right }: ConfidenceBin): string {
  return `${from} to ${to}: ${Math.round((100 * right) / words)} % of ${words} words right`;
}

function hasWords({ words }: ConfidenceBin): boolean {
  return words > 0;
}

function x(value: number): number {
  return Math.round(10 * (MARGIN + value * SIDE)) / 10;
}

function y(value: number): number {
  return Math.round(10 * (MARGIN + (1 - value) * SIDE)) / 10;
}
