import {
  STATUS_DAYS,
  type ComponentHistory,
  type Incident,
  type ServiceComponent,
  type ServiceState,
  type ServiceStatus,
  type StatusDay,
  type StatusHistory,
} from '@svc-asr/protocol/service-status.ts';

const EVERY_MS = 15_000;
const HISTORY_EVERY_MS = 60_000;

const SUMMARIES = {
  operational: 'All systems operational',
  degraded: 'Partial outage',
  down: 'Service outage',
} as const satisfies Record<ServiceState, string>;

const LABELS = {
  operational: 'Operational',
  degraded: 'Degraded',
  down: 'Down',
} as const satisfies Record<ServiceState, string>;

/** A page on another host shows files. If nobody has written them for this long, the service is likely down. */
const OLD_MS = 5 * 60_000;

/** The newest incident that goes on. It matters more than what the probes find. */
let ongoing: Incident | null = null;
let latest: ServiceStatus | null = null;

/** Shows /status.json and /status/history.json, and refreshes both while the page is visible. */
export function startStatus(): void {
  void refresh();
  void refreshHistory();
  setInterval(() => {
    if (document.visibilityState === 'visible') void refresh();
  }, EVERY_MS);
  setInterval(() => {
    if (document.visibilityState === 'visible') void refreshHistory();
  }, HISTORY_EVERY_MS);
  // A page that comes back to the front shows no old state.
  document.addEventListener('visibilitychange', () => {
    if (document.visibilityState !== 'visible') return;
    void refresh();
    void refreshHistory();
  });
}

async function load(address: string): Promise<Response> {
  const response = await fetch(address, { signal: timeout(10_000) });
  if (!response.ok) throw new Error(`${address} answered ${response.status}.`);
  return response;
}

async function refresh(): Promise<void> {
  try {
    const response = await load('/status.json');
    const status: ServiceStatus = await response.json();
    // The visitor's own clock may be wrong.
    const servedAtMs = Date.parse(response.headers.get('date') ?? '');
    if (servedAtMs - Date.parse(status.checked_at) > OLD_MS) {
      forget();
      setSummary('down', `No report from the service since ${moment(status.checked_at)}`);
      setNote('');
    } else {
      latest = status;
      show(status);
    }
  } catch {
    forget();
    setSummary('down', 'The service can’t be reached');
    setNote('This page tries again every 15 seconds.');
  }
}

function forget(): void {
  latest = null;
  for (const label of document.querySelectorAll('[data-status-list] .state')) {
    label.className = 'state';
    label.textContent = 'Unknown';
  }
  for (const about of document.querySelectorAll('[data-component] .detail:not(.percent)')) {
    about.textContent = 'No report.';
  }
}

function show(status: ServiceStatus): void {
  if (ongoing === null) setSummary(status.state, SUMMARIES[status.state]);
  else setSummary(status.state === 'down' ? 'down' : 'degraded', `Ongoing: ${ongoing.text}`);
  for (const component of status.components) showComponent(component);
  setNote(`Checked at ${timeOfDay(status.checked_at)}.`);
}

function rowOf(id: string): HTMLElement | null {
  return document.querySelector(`[data-component="${id}"]`);
}

function showComponent({ id, state, detail }: ServiceComponent): void {
  const row = rowOf(id);
  const label = row?.querySelector('.state');
  const about = row?.querySelector('.detail');
  if (!label || !about) return;
  label.className = `state is-${state}`;
  label.textContent = LABELS[state];
  about.textContent = detail;
}

async function refreshHistory(): Promise<void> {
  const history: StatusHistory | null = await load('/status/history.json')
    .then((response) => response.json())
    .catch(() => null);
  if (history === null) return;
  const { components, incidents } = history;
  ongoing = incidents.find(({ ended_at }) => ended_at === null) ?? null;
  if (latest !== null) show(latest);
  for (const component of components) showDays(component);
  fill('[data-status-incidents]', incidents.map(renderIncident), 'None in the last 90 days.');
  fill('[data-status-interruptions]', interruptions(components), 'None on record.');
}

function showDays({ id, name, available_percent: percent, days }: ComponentHistory): void {
  const row = rowOf(id);
  const text =
    percent === null
      ? 'No record yet'
      : `${percent.toFixed(2)} % available in ${count(days.length)}`;
  row?.querySelector('.percent')?.replaceChildren(text);
  const strip = svg('svg', {
    viewBox: `0 0 ${STATUS_DAYS * 4 - 1} 10`,
    preserveAspectRatio: 'none',
    role: 'img',
    'aria-label': `${name}: ${text}`,
  });
  const first = STATUS_DAYS - days.length;
  for (let at = 0; at < STATUS_DAYS; at += 1) {
    const day = days[at - first];
    const bar = svg('rect', {
      x: `${at * 4}`,
      y: '0',
      width: '3',
      height: '10',
      class: level(day),
    });
    if (day !== undefined) {
      const title = svg('title', {});
      title.textContent = `${date(day.day)}: ${day.down_minutes === 0 ? 'no interruption' : `${minutes(day.down_minutes)} down`}`;
      bar.append(title);
    }
    strip.append(bar);
  }
  row?.querySelector('.days')?.replaceChildren(strip);
}

/** An hour without service colours the whole day. */
function level(day: StatusDay | undefined): string {
  if (day === undefined || day.minutes === 0) return 'no-record';
  if (day.down_minutes === 0) return 'all-up';
  return day.down_minutes < 60 ? 'partly-up' : 'mostly-down';
}

/** One line for each day with an interruption, newest first. Every record ends today. */
function interruptions(components: readonly ComponentHistory[]): HTMLElement[] {
  const lines: HTMLElement[] = [];
  for (let ago = 1; ago <= STATUS_DAYS; ago += 1) {
    const parts: string[] = [];
    let title = '';
    for (const { name, days } of components) {
      const day = days[days.length - ago];
      if (day === undefined || day.down_minutes === 0) continue;
      title = date(day.day);
      parts.push(`${name} ${minutes(day.down_minutes)}`);
    }
    if (parts.length > 0) lines.push(item(title, parts.join(', ')));
  }
  return lines;
}

function renderIncident({ id, text, started_at: from, ended_at: to }: Incident): HTMLElement {
  const element = item(
    text,
    to === null ? `Since ${moment(from)}` : `${moment(from)} to ${moment(to)}`,
  );
  element.id = `incident-${id}`;
  return element;
}

function item(title: string, about: string): HTMLElement {
  const element = document.createElement('li');
  const head = document.createElement('strong');
  head.textContent = title;
  const detail = document.createElement('span');
  detail.className = 'detail';
  detail.textContent = about;
  element.append(head, detail);
  return element;
}

function fill(selector: string, items: readonly HTMLElement[], empty: string): void {
  const none = document.createElement('li');
  none.className = 'detail';
  none.textContent = empty;
  document.querySelector(selector)?.replaceChildren(...(items.length === 0 ? [none] : items));
}

function svg(name: string, attributes: Readonly<Record<string, string>>): SVGElement {
  const element = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  return element;
}

function count(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}

function minutes(value: number): string {
  const hours = Math.floor(value / 60);
  const rest = value % 60;
  return [hours > 0 ? `${hours} h` : '', rest > 0 ? `${rest} min` : ''].join(' ').trim();
}

/** A day of the record, which is in UTC. */
function date(day: string): string {
  return new Date(day).toLocaleDateString('en-GB', { dateStyle: 'medium', timeZone: 'UTC' });
}

function timeOfDay(at: string): string {
  return new Date(at).toLocaleTimeString('en-GB', {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    timeZoneName: 'short',
  });
}

function moment(at: string): string {
  return new Date(at).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    timeZoneName: 'short',
  });
}

function setSummary(state: ServiceState, text: string): void {
  const summary = document.querySelector('[data-status-summary]');
  if (summary === null) return;
  summary.className = `status-summary is-${state}`;
  // A screen reader announces changes, so an unchanged sentence stays.
  if (summary.textContent !== text) summary.textContent = text;
}

function setNote(text: string): void {
  const note = document.querySelector('[data-status-note]');
  if (note !== null) note.textContent = text;
}

/** AbortSignal.timeout is missing in browsers that the console supports. */
function timeout(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}
