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

/** Narrow, so that a phone shows all of it at a size that can be read. */
const WIDTH = 450;
const MARGIN = 75;
const HEAD = 56;
const ROW = 50;
const BAND = 36;

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
  const x = (actor: number) => MARGIN + (actor * (WIDTH - 2 * MARGIN)) / (actors.length - 1);
  const height = HEAD + steps.reduce((sum, step) => sum + ('band' in step ? BAND : ROW), 0) + 40;
  const parts: string[] = [];
  for (const at of actors.keys()) {
    parts.push(
      `<line class="life" x1="${x(at)}" x2="${x(at)}" y1="${HEAD - 12}" y2="${height - 8}" stroke-dasharray="4 4"/>`,
    );
  }
  for (const [at, name] of actors.entries()) {
    parts.push(
      `<rect class="actor" x="${x(at) - 66}" y="8" width="132" height="34" rx="9"/>`,
      `<text class="actor-name" x="${x(at)}" y="30" font-size="14" font-weight="600" text-anchor="middle">${escapeHtml(name)}</text>`,
    );
  }
  let y = HEAD + 24;
  for (const step of steps) {
    if ('band' in step) {
      parts.push(
        `<rect class="band" x="8" y="${y - 16}" width="${WIDTH - 16}" height="24" rx="6"/>`,
        `<text class="note" x="${WIDTH / 2}" y="${y}" font-size="14" text-anchor="middle">${escapeHtml(step.band)}</text>`,
      );
      y += BAND;
      continue;
    }
    parts.push(...arrow({ ...step, y, startX: x(step.from), endX: x(step.to) }));
    y += ROW;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-label="${escapeHtml(title)}">
${STYLE}
<rect class="paper" width="${WIDTH}" height="${height}" fill-opacity="0"/>
${parts.join('\n')}
</svg>
`;
}

type Arrow = Exclude<Step, { band: string }> & {
  readonly y: number;
  readonly startX: number;
  readonly endX: number;
};

function arrow({ y, startX, endX, ...step }: Arrow): string[] {
  const right = endX > startX;
  const from = startX + (right ? 3 : -3);
  const to = endX + (right ? -3 : 3);
  const back = right ? -9 : 9;
  const middle = (from + to) / 2;
  return [
    `<text class="label" x="${middle}" y="${y - 7}" font-size="14" text-anchor="middle">${escapeHtml(step.text)}</text>`,
    `<line class="arrow" x1="${from}" x2="${to + back / 2}" y1="${y}" y2="${y}" stroke-width="1.6"/>`,
    `<path class="head" d="M${to} ${y}l${back} -4.5v9z"/>`,
    ...(step.note === undefined
      ? []
      : [
          `<text class="note" x="${middle}" y="${y + 15}" font-size="13" text-anchor="middle">${escapeHtml(step.note)}</text>`,
        ]),
  ];
}
