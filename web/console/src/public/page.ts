import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { AUDIO, CHUNK_SAMPLES, MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import { browserExample, serverExample } from '../screens/playground/tools/code-examples.ts';
import type { Accuracy } from './accuracy.ts';
import type { Example } from './example.ts';
import { EXAMPLES } from './examples.ts';
import { PUBLIC_TEXTS, type PublicTexts } from './texts.ts';

/**
 * Returns the public page as HTML. It is rendered at build time from constants, so it contains no user input. The server
 * fills its {{marks}} from the configuration.
 */
export function renderPublicPage(language: ConsoleLanguage, accuracy: Accuracy): string {
  const texts = PUBLIC_TEXTS[language];
  return `
    <div class="glow">
    <div class="mx-auto max-w-6xl px-4 sm:px-8">
      ${header(texts)}
      <main id="main">
        ${hero(texts, language, accuracy)}
        ${measured(texts, accuracy)}
        ${how(texts)}
        ${guarantees(texts)}
        ${price(texts)}
        ${waitlist(texts, language)}
      </main>
      ${footer(texts)}
    </div>
    </div>`;
}

/** Text follows each chunk of audio. */
const CHUNK_MS = (CHUNK_SAMPLES / AUDIO.sampleRateHz) * 1_000;

const LOGO = `
  <svg width="28" height="28" viewBox="0 0 32 32" aria-hidden="true">
    <rect width="32" height="32" rx="9" class="fill-accent"/>
    <path d="M7 14v4M11.5 10v12M16 7v18M20.5 12v8M25 14.5v3" class="stroke-on-accent" stroke-width="2.6"
      stroke-linecap="round"/>
  </svg>`;

function header({ nav, other }: PublicTexts): string {
  const quiet = 'rounded-sm py-2 text-ink-2 hover:text-ink';
  return `
    <header class="flex items-center justify-between gap-4 py-5">
      <a href="#main" class="button button-primary sr-only focus:not-sr-only">${nav.skip}</a>
      <span class="inline-flex items-center gap-2.5 font-semibold tracking-tight whitespace-nowrap">${LOGO} svc-asr</span>
      <nav class="flex items-center gap-3 text-sm whitespace-nowrap sm:gap-6">
        <a class="${quiet} max-sm:hidden" href="#how">${nav.how}</a>
        <a class="${quiet} max-sm:hidden" href="#price">${nav.price}</a>
        <a class="${quiet}" href="/docs">${nav.docs}</a>
        <a class="${quiet}" href="${other.href}" hreflang="${other.code}" lang="${other.code}">${other.label}</a>
        <a class="button button-secondary" href="/app">${nav.signIn}</a>
      </nav>
    </header>`;
}

function hero(texts: PublicTexts, language: ConsoleLanguage, accuracy: Accuracy): string {
  return `
    <section class="grid items-center gap-10 py-10 lg:grid-cols-[1.05fr_1fr] lg:gap-14 lg:py-20">
      <div>
        <h1 class="text-3xl tracking-[-0.03em]">${texts.title}</h1>
        <p class="mt-5 max-w-[54ch] text-lg text-ink-2">${texts.lead}</p>
        <p class="mt-8 flex flex-wrap gap-3">
          <a class="button button-primary px-5" href="#waitlist">${texts.nav.join}</a>
          <a class="button button-secondary px-5" href="/docs/start/quickstart">${texts.nav.quickstart}</a>
        </p>
      </div>
      <div class="grid gap-4">
        {{#demo}}${demo(texts, language)}{{/demo}}
        <div class="grid gap-4" aria-label="${texts.example.title}" role="group">
          ${EXAMPLES.map((example) => player(example, texts, accuracy)).join('')}
          <p class="text-xs text-ink-3">${texts.example.note} <a class="underline underline-offset-4" href="#accuracy">${texts.accuracy.title}</a></p>
        </div>
      </div>
    </section>`;
}

/** Off unless the operator pays for it. The server removes it then. */
function demo({ demo: texts, example, nav }: PublicTexts, language: ConsoleLanguage): string {
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
  const options = MODEL_IDS.map(
    (model, at) => `
      <label class="inline-flex min-h-9 items-center gap-2 text-sm"><input class="size-4 accent-accent" type="radio" name="demo-model"
        value="${model}"${at === 0 ? ' checked' : ''}>${example.models[model]}</label>`,
  ).join('');
  return `
    <section class="card grid gap-3 p-5" aria-labelledby="demo-title" data-demo data-seconds="${seconds}" data-start="${texts.start(seconds)}" ${sentences}>
      <h2 id="demo-title" class="text-lg">${texts.title}</h2>
      <p class="text-sm text-ink-2">${texts.lead(seconds)}</p>
      <fieldset class="flex gap-5"><legend class="sr-only">${texts.language}</legend>${options}</fieldset>
      <p class="min-h-14 text-lg font-medium wrap-anywhere" lang="${language}"><span data-demo-finished aria-live="polite"></span> <span data-demo-growing class="text-ink-3">${texts.placeholder}</span></p>
      <div class="flex flex-wrap items-center gap-4">
        <button type="button" class="button button-primary" data-demo-start>${texts.start(seconds)}</button>
        <a hidden class="button button-primary" data-demo-next href="#waitlist">${nav.join}</a>
        <span class="font-mono text-sm text-ink-2 tabular-nums" data-demo-clock></span>
      </div>
      <p role="status" class="text-sm text-ink-2 empty:hidden" data-demo-answer></p>
    </section>`;
}

/** Figures of the model card, which the build reads. */
function measured({ accuracy: texts, example }: PublicTexts, { rows }: Accuracy): string {
  const body = rows
    .map(
      ({ name, wer }) => `
        <tr class="border-t border-line">
          <th scope="row" class="py-3 pr-4 font-normal">${texts.rows[name]}</th>
          ${MODEL_IDS.map((model) => `<td class="py-3 pl-4 text-right font-semibold tabular-nums">${wer[model]}</td>`).join('')}
        </tr>`,
    )
    .join('');
  return `
    <section id="accuracy" class="grid gap-8 border-t border-line py-14 lg:grid-cols-2 lg:gap-14 lg:py-20">
      <div>
        <h2 class="text-2xl">${texts.title}</h2>
        <p class="mt-4 max-w-[54ch] text-ink-2">${texts.lead}</p>
        <p class="mt-4 max-w-[54ch] text-ink-2">${texts.delay((CHUNK_MS / 1_000).toFixed(2))}</p>
        <p class="mt-4"><a class="underline underline-offset-4" href="/docs/models/model-card">${texts.more}</a></p>
      </div>
      <table class="w-full self-start text-left">
        <thead class="text-sm text-ink-3">
          <tr><td></td>${MODEL_IDS.map((model) => `<th scope="col" class="pb-2 pl-4 text-right font-medium">${example.models[model]}</th>`).join('')}</tr>
        </thead>
        <tbody>${body}
          <tr class="border-t border-line">
            <th scope="row" class="py-3 pr-4 font-normal">${texts.real}</th>
            <td colspan="2" class="py-3 pl-4 text-right font-semibold">${texts.notMeasured}</td>
          </tr>
        </tbody>
      </table>
    </section>`;
}

/** Shows the whole transcript without JavaScript. With it, words appear as the recording plays. */
function player(
  example: Example,
  { example: texts, accuracy: { such } }: PublicTexts,
  { rows }: Accuracy,
): string {
  const known = rows.find(({ name }) => name === 'known')?.wer[example.model];
  const rate = known === undefined ? '' : such(known);
  const width = 100 / example.envelope.length;
  const bars = example.envelope
    .map((loud, at) => {
      const x = ((at + 0.5) * width).toFixed(2);
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
  const code = example.model === 'svc-asr-kikuyu-v1' ? 'ki' : 'luo';
  return `
    <figure class="card p-5" data-player data-duration="${example.durationMs}">
      <div class="flex items-center gap-4">
        <button type="button" data-play data-label-play="${texts.play}: ${name}" data-label-pause="${texts.pause}: ${name}"
          aria-label="${texts.play}: ${name}" class="button button-primary size-12 shrink-0 rounded-full p-0">
          <svg width="18" height="18" viewBox="0 0 18 18" fill="currentColor" aria-hidden="true">
            <path data-shape="play" d="M5 2.8v12.4L15.5 9z"/><path data-shape="pause" class="hidden" d="M4 3h3.6v12H4zM10.4 3H14v12h-3.6z"/>
          </svg>
        </button>
        <svg data-wave class="h-11 w-full stroke-edge" height="44" stroke-width="3" stroke-linecap="round" aria-hidden="true">${bars}</svg>
      </div>
      <blockquote class="mt-4 text-lg font-medium" lang="${code}">${words}</blockquote>
      <figcaption class="mt-2 text-sm text-ink-2"><span class="font-medium text-accent">${name}</span> · ${texts.meaning[example.model]}<span class="mt-1 block text-xs text-ink-3">${rate}</span></figcaption>
      <audio preload="none" src="${example.audio}"></audio>
    </figure>`;
}

function how({ how: texts }: PublicTexts): string {
  const steps = texts.steps
    .map(
      (step, at) => `
        <li class="border-t-2 border-accent pt-4">
          <span class="text-sm font-semibold text-accent tabular-nums" aria-hidden="true">${at + 1}</span>
          <h3 class="mt-1 text-lg">${step.title}</h3>
          <p class="mt-2 text-ink-2">${step.text}</p>
        </li>`,
    )
    .join('');
  return `
    <section id="how" class="border-t border-line py-14 lg:py-20">
      <h2 class="max-w-[26ch] text-2xl">${texts.title}</h2>
      <ol class="mt-8 grid gap-8 md:grid-cols-3">${steps}</ol>
      ${codeTabs(texts)}
    </section>`;
}

/** Tabs without a script: the chosen radio button shows its panel. */
function codeTabs(texts: PublicTexts['how']): string {
  const tabs = [
    { id: 'curl', label: 'curl', code: EXCHANGE },
    { id: 'node', label: `${texts.server}: Node`, code: serverExample(CODE) },
    { id: 'browser', label: texts.page, code: browserExample([]) },
    { id: 'python', label: 'Python', code: PYTHON_EXAMPLE },
  ];
  const labels = tabs
    .map(
      ({ id, label }, at) => `
        <label class="rounded-sm px-3 py-2 text-sm text-[#8ea39a] has-checked:bg-[#1c2824] has-checked:text-[#dfe9e4] has-focus-visible:outline-2 has-focus-visible:outline-accent">
          <input class="sr-only" type="radio" name="code" id="code-${id}"${at === 0 ? ' checked' : ''}>${label}</label>`,
    )
    .join('');
  const panels = tabs
    .map(
      ({ id, label, code }) =>
        `<pre tabindex="0" role="region" aria-label="${label}" class="code-panel code-${id} overflow-x-auto p-5 text-sm leading-6 sm:p-7"><code>${code}</code></pre>`,
    )
    .join('');
  return `
      <div class="code code-tabs mt-10 rounded-lg">
        <fieldset class="flex flex-wrap gap-1 border-b border-[#24312c] p-2 font-sans"><legend class="sr-only">${texts.code}</legend>${labels}</fieldset>
        ${panels}
      </div>`;
}

/** The examples name the page's own address, so that they can be copied and run. */
const CODE = {
  baseUrl: '{{public_url}}',
  model: 'svc-asr-kikuyu-v1',
  maxAudioSeconds: 60,
} as const;
const PYTHON_EXAMPLE = `from svc_asr import transcribe_file

# Reads SVC_BASE_URL and SVC_API_KEY.
print(transcribe_file("recording.mp3", model="svc-asr-kikuyu-v1").text)`;

const WORDS = EXAMPLES[0]?.words.map(({ text }) => text) ?? [];
const EXCHANGE = `curl {{public_url}}/v1/asr/sessions \\
  -H "Authorization: Bearer $SVC_API_KEY" \\
  -H "Content-Type: application/json" \\
  -d '{"model":"svc-asr-kikuyu-v1"}'

<span class="code-dim">→</span> { "websocket_url": "wss://…", "websocket_protocols": ["svc.realtime.v1", "svc.auth.…"],
    "expires_at": "…", "credits": { "reserved": 60, "remaining": 3540 } }

<span class="code-dim">←</span> {"type":"delta","text":"<span class="code-bright">${WORDS.slice(0, 2).join(' ')}</span>"}
<span class="code-dim">←</span> {"type":"final","text":"<span class="code-bright">${WORDS.join(' ')}</span>","billable_ms":3000}`;

function guarantees({ guarantees: texts }: PublicTexts): string {
  const list = texts.list
    .map(
      (guarantee) => `
        <li>
          <h3 class="text-base">${guarantee.title}</h3>
          <p class="mt-1.5 text-ink-2">${guarantee.text}</p>
        </li>`,
    )
    .join('');
  return `
    <section class="border-t border-line py-14 lg:py-20">
      <h2 class="max-w-[28ch] text-2xl">${texts.title}</h2>
      <ul class="mt-8 grid gap-x-10 gap-y-8 sm:grid-cols-2 lg:grid-cols-4">${list}</ul>
    </section>`;
}

function price({ price: texts }: PublicTexts): string {
  const rows = texts.rows
    .map(
      ([what, cost]) => `
        <tr class="border-t border-line">
          <td class="py-3 pr-4">${what}</td>
          <td class="py-3 text-right font-semibold whitespace-nowrap tabular-nums">${cost}</td>
        </tr>`,
    )
    .join('');
  return `
    <section id="price" class="grid gap-8 border-t border-line py-14 lg:grid-cols-2 lg:gap-14 lg:py-20">
      <div>
        <h2 class="text-2xl">${texts.title}</h2>
        <p class="mt-4 max-w-[54ch] text-lg font-medium">{{#price}}{{price}}{{/price}}{{^price}}${texts.preview}{{/price}}</p>
        <p class="mt-4 max-w-[54ch] text-ink-2">${texts.lead}</p>
        <p class="mt-4 max-w-[54ch] text-ink-2">${texts.foot}</p>
      </div>
      <table class="w-full self-start text-left">
        <thead class="text-sm text-ink-3">
          <tr><th class="pb-2 font-medium">${texts.head[0]}</th><th class="pb-2 text-right font-medium">${texts.head[1]}</th></tr>
        </thead>
        <tbody>${rows}</tbody>
      </table>
    </section>`;
}

function waitlist({ waitlist: texts }: PublicTexts, language: ConsoleLanguage): string {
  return `
    <section id="waitlist" class="py-14 lg:py-20">
      <div class="card grid gap-8 p-6 sm:p-10 lg:grid-cols-2">
        <div>
          <h2 class="text-2xl">${texts.title}</h2>
          <p class="mt-4 text-ink-2">${texts.lead}</p>
          <p class="mt-4 text-sm text-ink-3">${texts.privacy}</p>
        </div>
        <form data-waitlist data-language="${language}" data-invalid="${texts.invalid}" data-failed="${texts.failed}"
          data-busy="${texts.busy}" data-sending="${texts.sending}" novalidate class="grid gap-4">
          <div class="grid gap-1.5">
            <label class="grid gap-1.5 text-sm font-medium">${texts.email}
              <input class="input" type="email" name="email" autocomplete="email" autocapitalize="none" required maxlength="254"
                aria-describedby="waitlist-email">
            </label>
            <p id="waitlist-email" class="text-sm text-danger empty:hidden"></p>
          </div>
          <label class="grid gap-1.5 text-sm font-medium">${texts.use}
            <textarea class="input" name="use_case" rows="2" maxlength="500"></textarea>
          </label>
          <p id="waitlist-answer" role="status" class="text-sm text-danger empty:hidden"></p>
          <button class="button button-primary" type="submit">${texts.send}</button>
          <noscript>${texts.script}</noscript>
        </form>
        <div data-joined hidden tabindex="-1" class="grid content-start gap-4 rounded-md bg-accent-soft p-5 text-accent-strong outline-none">
          <h3 class="text-lg">${texts.doneTitle}</h3>
          <p>${texts.done}</p>
          <p class="font-medium">${texts.meanwhile}</p>
          <ul class="grid gap-2">
            <li><a class="underline underline-offset-4" href="/docs/start/quickstart">${texts.quickstart}</a></li>
            <li><a class="underline underline-offset-4" href="/docs/start/on-your-machine">${texts.local}</a></li>
          </ul>
        </div>
      </div>
    </section>`;
}

function link(href: string, label: string): string {
  return `<a class="underline underline-offset-4 hover:text-ink" href="${href}">${label}</a>`;
}

function footer({ foot, nav }: PublicTexts): string {
  return `
    <footer class="flex flex-wrap justify-between gap-x-10 gap-y-3 border-t border-line py-8 text-sm text-ink-3">
      <p class="max-w-[60ch]">${foot.source}</p>
      <nav class="flex flex-wrap gap-x-5 gap-y-2" aria-label="${nav.more}">
        ${link('/docs', nav.docs)}
        ${link('/status', nav.status)}
        ${link('/changelog', nav.changelog)}
        ${link('{{privacy}}', foot.privacy)}
        {{#terms}}${link('{{terms}}', foot.terms)}{{/terms}}
      </nav>
    </footer>`;
}
