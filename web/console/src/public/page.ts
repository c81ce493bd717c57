import type { ConsoleLanguage } from '@svc-asr/protocol/console/console.ts';
import { AUDIO, CHUNK_SAMPLES, MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Accuracy } from './accuracy.ts';
import { codeTabs } from './code-tabs.ts';
import { demoCard } from './demo-card.ts';
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
        ${hero(texts, language)}
        ${facts(texts, accuracy)}
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
        <a class="${quiet} max-lg:hidden" href="#how">${nav.how}</a>
        <a class="${quiet} max-lg:hidden" href="#accuracy">${nav.accuracy}</a>
        <a class="${quiet} max-sm:hidden" href="#price">${nav.price}</a>
        <a class="${quiet}" href="/docs">${nav.docs}</a>
        <a class="${quiet} max-sm:hidden" href="/status">${nav.status}</a>
        <a class="${quiet}" href="${other.href}" hreflang="${other.code}" lang="${other.code}">${other.label}</a>
        <a class="button button-secondary" href="/app">${nav.signIn}</a>
      </nav>
    </header>`;
}

function hero(texts: PublicTexts, language: ConsoleLanguage): string {
  const { nav, start } = texts;
  return `
    <section class="grid items-start gap-10 py-8 lg:grid-cols-[1fr_1.02fr] lg:gap-14 lg:py-14">
      <div class="lg:pt-3">
        <a class="inline-block rounded-lg bg-warn-soft px-3 py-1 text-xs font-semibold text-warn" href="#accuracy">${texts.preview}</a>
        <h1 class="mt-4 text-3xl tracking-[-0.03em]">${texts.title}</h1>
        <p class="mt-5 max-w-[46ch] text-lg text-ink-2">${texts.lead}</p>
        <p class="mt-7 flex flex-wrap gap-3">
          <a class="button button-primary px-5" href="#waitlist">${nav.join}</a>
          <a class="button button-secondary px-5" href="/docs/start/quickstart">${nav.quickstart}</a>
        </p>
        <p class="mt-4 text-sm text-ink-3">{{^price}}${start.free} · {{/price}}${start.credit} · ${start.card}</p>
      </div>
      ${demoCard(texts, language)}
    </section>`;
}

/** The promises that a visitor compares, each with its figure. */
function facts({ facts: texts }: PublicTexts, { rows }: Accuracy): string {
  const known = rows.find(({ name }) => name === 'known');
  const rates = MODEL_IDS.map((model) => Math.round(Number(known?.wer[model])));
  const range = [...new Set([Math.min(...rates), Math.max(...rates)])].join('–');
  const list = [
    [`${(CHUNK_MS / 1_000).toFixed(1)} s`, texts.delay],
    [
      `${range} %`,
      `${texts.accuracy} <a class="underline underline-offset-4" href="#accuracy">${texts.real}</a>`,
    ],
    ['0 s', texts.charge],
    [texts.nothing, texts.stored],
  ]
    .map(
      ([figure, text]) =>
        `<li><b class="block text-xl font-semibold tracking-tight">${figure}</b><span class="text-sm text-ink-2">${text}</span></li>`,
    )
    .join('');
  return `<ul class="grid grid-cols-2 gap-x-6 gap-y-5 border-t border-line py-6 lg:grid-cols-4" data-facts>${list}</ul>`;
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
