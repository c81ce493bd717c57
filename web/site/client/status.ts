import type {
  ServiceComponent,
  ServiceState,
  ServiceStatus,
} from '@svc-asr/protocol/service-status.ts';

const EVERY_MS = 15_000;

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

/** Shows /status.json and refreshes it while the page is visible. */
export function startStatus(): void {
  void refresh();
  setInterval(() => {
    if (document.visibilityState === 'visible') void refresh();
  }, EVERY_MS);
}

async function refresh(): Promise<void> {
  try {
    const response = await fetch('/status.json', { signal: timeout(10_000) });
    if (!response.ok) throw new Error(`The status is ${response.status}.`);
    show(await response.json());
  } catch {
    setSummary('down', 'The service can’t be reached');
    for (const label of document.querySelectorAll('[data-status-list] .state')) {
      label.className = 'state';
      label.textContent = 'Unknown';
    }
    setNote('This page tries again every 15 seconds.');
  }
}

function show(status: ServiceStatus): void {
  setSummary(status.state, SUMMARIES[status.state]);
  document
    .querySelector('[data-status-list]')
    ?.replaceChildren(...status.components.map(renderComponent));
  setNote(`Checked at ${new Date(status.checked_at).toLocaleTimeString()}.`);
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

function renderComponent({ name, state, detail }: ServiceComponent): HTMLElement {
  const item = document.createElement('li');
  const title = document.createElement('span');
  title.textContent = name;
  const label = document.createElement('span');
  label.className = `state is-${state}`;
  label.textContent = LABELS[state];
  const about = document.createElement('span');
  about.className = 'detail';
  about.textContent = detail;
  item.append(title, label, about);
  return item;
}

/** AbortSignal.timeout is missing in browsers that the console supports. */
function timeout(ms: number): AbortSignal {
  const controller = new AbortController();
  setTimeout(() => controller.abort(), ms);
  return controller.signal;
}
