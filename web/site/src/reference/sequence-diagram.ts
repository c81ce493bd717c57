import { escapeHtml } from '../html.ts';

/** One arrow between two actors, or a note across the diagram. */
type Step =
  | { readonly from: number; readonly to: number; readonly text: string; readonly note?: string }
  | { readonly band: string };

export interface Sequence {
  readonly title: string;
  readonly actors: readonly string[];
  readonly steps: readonly Step[];
}

const COLUMN = 240;
const MARGIN = 100;
const HEAD = 56;
const ROW = 44;
const BAND = 34;

/** For GitHub, which shows the file as an image. The site removes it and uses its own stylesheet. */
const STYLE = `<style>
text { font-family: ui-sans-serif, system-ui, sans-serif; }
.label { font-family: ui-monospace, Menlo, Consolas, monospace; }
.life { stroke: #c9c4b8; } .actor { fill: #ffffff; stroke: #8a8476; } .arrow { stroke: #0a6a55; } .head { fill: #0a6a55; }
.actor-name, .label { fill: #1a1916; } .note { fill: #6b665b; } .band { fill: #f3f1eb; }
.paper { fill: #fbfaf7; }
@media (prefers-color-scheme: dark) {
.life { stroke: #3a423e; } .actor { fill: #161a18; stroke: #79837d; } .arrow { stroke: #4fd3ab; } .head { fill: #4fd3ab; }
.actor-name, .label { fill: #f0f3f1; } .note { fill: #97a19b; } .band { fill: #222926; } .paper { fill: #0e1110; }
}
</style>`;

/** Draws a sequence diagram. Colours are classes. */
export function drawSequence({ title, actors, steps }: Sequence): string {
  const width = (actors.length - 1) * COLUMN + 2 * MARGIN;
  const height = HEAD + steps.reduce((sum, step) => sum + ('band' in step ? BAND : ROW), 0) + 40;
  const parts: string[] = [];
  for (const at of actors.keys()) {
    parts.push(
      `<line class="life" x1="${x(at)}" x2="${x(at)}" y1="${HEAD - 12}" y2="${height - 8}" stroke-dasharray="4 4"/>`,
    );
  }
  for (const [at, name] of actors.entries()) {
    parts.push(
      `<rect class="actor" x="${x(at) - 82}" y="8" width="164" height="34" rx="9"/>`,
      `<text class="actor-name" x="${x(at)}" y="30" font-size="14" font-weight="600" text-anchor="middle">${escapeHtml(name)}</text>`,
    );
  }
  let y = HEAD + 24;
  for (const step of steps) {
    if ('band' in step) {
      parts.push(
        `<rect class="band" x="8" y="${y - 16}" width="${width - 16}" height="24" rx="6"/>`,
        `<text class="note" x="${width / 2}" y="${y}" font-size="12.5" text-anchor="middle">${escapeHtml(step.band)}</text>`,
      );
      y += BAND;
      continue;
    }
    parts.push(...arrow(step, y));
    y += ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escapeHtml(title)}">
${STYLE}
<rect class="paper" width="${width}" height="${height}" fill-opacity="0"/>
${parts.join('\n')}
</svg>
`;
}

function arrow(step: Exclude<Step, { band: string }>, y: number): string[] {
  const right = step.to > step.from;
  const from = x(step.from) + (right ? 3 : -3);
  const to = x(step.to) + (right ? -3 : 3);
  const back = right ? -9 : 9;
  const middle = (from + to) / 2;
  return [
    `<text class="label" x="${middle}" y="${y - 7}" font-size="12.5" text-anchor="middle">${escapeHtml(step.text)}</text>`,
    `<line class="arrow" x1="${from}" x2="${to + back / 2}" y1="${y}" y2="${y}" stroke-width="1.6"/>`,
    `<path class="head" d="M${to} ${y}l${back} -4.5v9z"/>`,
    ...(step.note === undefined
      ? []
      : [
          `<text class="note" x="${middle}" y="${y + 15}" font-size="11.5" text-anchor="middle">${escapeHtml(step.note)}</text>`,
        ]),
  ];
}

function x(actor: number): number {
  return MARGIN + actor * COLUMN;
}
