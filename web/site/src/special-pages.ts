import { SERVICE_COMPONENTS } from '@svc-asr/protocol/service-status.ts';
import { describe } from './description.ts';
import { escapeHtml } from './html.ts';
import { icon } from './icons.ts';
import type { Section, Source } from './sources.ts';

/** Sections shown as large cards on the first page, with a sentence for each. */
const ABOUT: Readonly<Record<string, string>> = {
  Start: 'From an API key to a first transcript.',
  Concepts: 'Sessions, credit, turns, audio, limits and latency.',
  Guides: 'Browsers, captions, phone calls, voice agents and tests.',
  Migrate: 'Coming from another speech API, event by event.',
  Reference: 'Every endpoint, message, error, method and command.',
  Operate: 'Install, monitor, upgrade and scale your own deployment.',
  Models: 'What the bundled models can do, and how to bring your own.',
  Contribute: 'How the service is built, and why.',
};

const SHOWN = 6;

export const HOME_TITLE = 'svc-asr documentation';
export const HOME_LEAD =
  'Streaming speech recognition for Kikuyu and Dholuo. Your server reserves a session over HTTP. A browser, phone or call streams audio over a WebSocket and gets text back while people speak.';

/** The way in for most readers. */
const TASKS = [
  [
    '/docs/start/quickstart',
    'Quickstart',
    'From an API key to a transcript, with TypeScript, Python or the command line.',
  ],
  [
    '/docs/guides/browser',
    'Browser microphone',
    'A web page that shows words as somebody speaks. The key stays on your server.',
  ],
  [
    '/docs/guides/telephony',
    'Phone calls',
    'Live transcripts of calls from Twilio and other providers.',
  ],
  [
    '/docs/reference/stream',
    'Stream reference',
    'Every message, event and close code, with examples from the running service.',
  ],
] as const;

/** The first page: a short introduction, the most common tasks, then a card for each section. */
export function renderHome(sections: readonly Section[]): string {
  const cards = sections.filter(({ pages }) => pages.length > 0).map(renderCard);
  const tasks = TASKS.map(
    ([url, title, about]) =>
      `<li><a class="task" href="${url}"><span class="task-title">${title}${icon('next', 16)}</span><span>${about}</span></a></li>`,
  );
  return `<main id="main" class="home" tabindex="-1">
<div class="hero"><h1>${HOME_TITLE}</h1><p class="lead">${HOME_LEAD}</p></div>
<ul class="tasks">${tasks.join('')}</ul>
<div class="cards">${cards.join('')}</div>
</main>`;
}

function renderCard({ title, pages }: Section): string {
  const shown = pages.slice(0, SHOWN).map(({ source }) => item(source));
  const [first] = pages;
  const more =
    pages.length <= SHOWN || first === undefined
      ? ''
      : `<li class="more"><a href="${first.source.url}">All ${pages.length} pages</a></li>`;
  return `<section class="card-section"><h2>${escapeHtml(title)}</h2><p>${escapeHtml(ABOUT[title] ?? '')}</p><ul>${shown.join('')}${more}</ul></section>`;
}

function item(source: Source): string {
  return `<li><a href="${source.url}" title="${escapeHtml(describe(source.markdown))}">${escapeHtml(source.title)}</a></li>`;
}

/** /status: the script fills its rows from what the service says about itself. */
export function renderStatus(): string {
  const rows = SERVICE_COMPONENTS.map(
    ({ id, name }) =>
      `<li data-component="${id}"><span>${escapeHtml(name)}</span><span class="state">Unknown</span><span class="detail">Checking…</span><div class="days"></div><span class="detail percent"></span></li>`,
  );
  return `<main id="main" class="article status-page" tabindex="-1">
<p class="eyebrow">Live</p>
<h1>Status</h1>
<p class="status-summary" data-status-summary role="status">Checking…</p>
<ul class="status-list" data-status-list>${rows.join('')}</ul>
<p class="status-note" data-status-note></p>
<noscript><p>This page needs JavaScript. The same facts are in <a href="/status.json">/status.json</a> and <a href="/status/history.json">/status/history.json</a>.</p></noscript>
<p class="status-note">Each bar is a day in UTC. The service checks itself three times a minute, and a minute without a good check counts as down. The same facts as JSON: <a href="/status.json">now</a>, <a href="/status/history.json">90 days</a>.</p>
<section class="status-incidents" aria-labelledby="incidents"><h2 id="incidents">Incidents</h2>
<p class="status-note"><a href="/status/incidents.atom">Subscribe with Atom</a></p>
<ul data-status-incidents></ul>
<h2>Interruptions by day</h2>
<ul data-status-interruptions></ul></section>
</main>`;
}

export function renderNotFound(): string {
  return `<main id="main" class="article" tabindex="-1">
<p class="eyebrow">404</p>
<h1>Page not found</h1>
<p class="lead">There is no page at this address. Search for it, or start at the <a href="/docs">overview</a>.</p>
</main>`;
}
