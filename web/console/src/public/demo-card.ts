import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { MODELS } from '@svc-asr/protocol/constants.ts';
import type { Example } from './example.ts';
import { EXAMPLES } from './examples.ts';
import type { PublicTexts } from './texts.ts';

/** One demo: a recording per language, and the visitor's own voice in the chosen language. */
export function demoCard(texts: PublicTexts, language: ConsoleLanguage): string {
  const tabs = EXAMPLES.map(
    ({ model }, at) => `
        <label class="rounded-sm px-3 py-2 text-center text-sm text-ink-2 has-checked:bg-picked has-checked:font-semibold has-checked:text-ink has-focus-visible:outline-2 has-focus-visible:outline-accent">
          <input class="sr-only" type="radio" name="language" id="language-${at}" value="${model}"${at === 0 ? ' checked' : ''}>${texts.example.models[model]}</label>`,
  ).join('');
  return `
    <div class="card language-tabs p-5 sm:p-6" data-demo-card>
      <fieldset class="grid grid-cols-2 gap-1 rounded-md bg-muted p-1"><legend class="sr-only">${texts.example.language}</legend>${tabs}</fieldset>
      ${EXAMPLES.map((example, at) => player(example, at, texts)).join('')}
      {{#demo}}${ownVoice(texts, language)}{{/demo}}
    </div>`;
}

/** Shows the whole transcript without JavaScript. With it, words appear as the recording plays. */
function player(example: Example, at: number, { example: texts }: PublicTexts): string {
  const width = 100 / example.envelope.length;
  const bars = example.envelope
    .map((loud, index) => {
      const x = ((index + 0.5) * width).toFixed(2);
      const half = (loud * 0.2).toFixed(1);
      return `<line x1="${x}%" x2="${x}%" y1="${(22 - Number(half)).toFixed(1)}" y2="${(22 + Number(half)).toFixed(1)}"/>`;
    })
    .join('');
  const words = example.words
    .map(
      (word) =>
        `<span data-end="${word.endMs}" class="transition-opacity duration-150">${word.text}</span>`,
    )
    .join(' ');
  const name = texts.models[example.model];
  return `
    <figure class="language-panel language-panel-${at} mt-5" aria-label="${texts.title}: ${name}" data-player data-duration="${example.durationMs}">
      <div class="flex items-center gap-4">
        <button type="button" data-play data-label-play="${texts.play}: ${name}" data-label-pause="${texts.pause}: ${name}"
          aria-label="${texts.play}: ${name}" class="button button-primary size-12 shrink-0 rounded-full p-0">
          <svg width="18" height="18" viewBox="0 0 18 18" fill="currentColor" aria-hidden="true">
            <path data-shape="play" d="M5 2.8v12.4L15.5 9z"/><path data-shape="pause" class="hidden" d="M4 3h3.6v12H4zM10.4 3H14v12h-3.6z"/>
          </svg>
        </button>
        <svg data-wave class="h-11 w-full min-w-0 stroke-edge" height="44" stroke-width="3" stroke-linecap="round" aria-hidden="true">${bars}</svg>
        <span class="font-mono text-sm text-ink-3 tabular-nums">0:${String(Math.round(example.durationMs / 1_000)).padStart(2, '0')}</span>
      </div>
      <blockquote class="mt-4 min-h-15 text-xl" lang="${MODELS[example.model].languageCode}">${words}</blockquote>
      <figcaption class="mt-2 text-sm text-ink-2">${texts.meaning[example.model]} <span class="text-ink-3">· ${texts.note}</span></figcaption>
      <audio preload="none" src="${example.audio}"></audio>
    </figure>`;
}

/** Off unless the operator pays for it. The server removes it then. */
function ownVoice({ demo: texts, nav }: PublicTexts, language: ConsoleLanguage): string {
  const seconds = CONSOLE_LIMITS.demoSeconds;
  const say = [
    'used',
    'closed',
    'busy',
    'denied',
    'missing',
    'failed',
    'connecting',
    'listening',
    'finishing',
    'speak',
    'over',
  ] as const;
  const sentences = say.map((name) => `data-${name}="${texts[name]}"`).join(' ');
  return `
    <section class="mt-5 grid gap-3 border-t border-line pt-4" aria-labelledby="demo-title" data-demo data-seconds="${seconds}" data-start="${texts.start(seconds)}" ${sentences}>
      <div>
        <h2 id="demo-title" class="text-base">${texts.title}</h2>
        <p class="text-sm text-ink-3">${texts.lead(seconds)}</p>
      </div>
      <p class="text-lg font-medium wrap-anywhere" lang="${language}"><span data-demo-finished aria-live="polite"></span> <span data-demo-growing class="text-ink-3"></span></p>
      <div class="flex flex-wrap items-center gap-x-4 gap-y-2">
        <button type="button" class="button button-secondary" data-demo-start>${texts.start(seconds)}</button>
        <a hidden class="button button-primary" data-demo-next href="#waitlist">${nav.join}</a>
        <span class="font-mono text-sm text-ink-2 tabular-nums" data-demo-clock></span>
        <p role="status" class="min-h-[2lh] min-w-52 flex-1 content-center text-sm text-ink-2" data-demo-answer></p>
      </div>
    </section>`;
}
