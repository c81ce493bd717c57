import type { DemoState } from '@svc-asr/protocol/console/console.ts';
import { MODEL_IDS, MODELS } from '@svc-asr/protocol/constants.ts';

/** Wires the microphone demo of the public page. The part that streams loads with the first click. */
export function startDemoButton(): void {
  const card = document.querySelector<HTMLElement>('[data-demo]');
  const button = card?.querySelector<HTMLButtonElement>('[data-demo-start]');
  if (!card || !button) return;
  void sayIfClosed(card, button);
  let stop: AbortController | null = null;
  button.addEventListener('click', () => {
    if (stop !== null) return stop.abort();
    stop = new AbortController();
    void run(card, button, stop.signal).finally(() => {
      stop = null;
    });
  });
}

/** A visitor should not allow the microphone and then learn that the demo is closed. */
async function sayIfClosed(card: HTMLElement, button: HTMLButtonElement): Promise<void> {
  const response = await fetch('/console-api/demo').catch(() => null);
  // The answer to a click says what is wrong.
  if (response?.ok !== true) return;
  const { state }: DemoState = await response.json();
  if (state === 'open') return;
  button.disabled = true;
  sayIn(card, card.dataset[state]);
}

function sayIn(card: HTMLElement, sentence: string | undefined, isBad = false): void {
  const place = card.querySelector<HTMLElement>('[data-demo-answer]');
  if (place === null) return;
  place.textContent = sentence ?? '';
  place.classList.toggle('text-danger', isBad);
  place.classList.toggle('text-ink-2', !isBad);
}

async function run(card: HTMLElement, button: HTMLButtonElement, stopped: AbortSignal) {
  const part = (name: string) => card.querySelector<HTMLElement>(`[data-demo-${name}]`);
  const label = (name: string) => {
    button.textContent = card.dataset[name] ?? '';
  };
  const say = (sentence: string | undefined, isBad = false) => sayIn(card, sentence, isBad);
  const choice = card.closest('[data-demo-card]')?.querySelector('fieldset') ?? null;
  const chosen = choice?.querySelector<HTMLInputElement>('input:checked')?.value;
  const model = MODEL_IDS.find((id) => id === chosen) ?? MODEL_IDS[0];
  const seconds = Number(card.dataset['seconds']);
  const [finishedPlace, growingPlace, clock] = [part('finished'), part('growing'), part('clock')];
  finishedPlace?.closest('[lang]')?.setAttribute('lang', MODELS[model].languageCode);
  if (choice !== null) choice.disabled = true;
  say('');
  if (growingPlace !== null) growingPlace.textContent = '';
  try {
    const { runDemo } = await import('./demo.ts');
    await runDemo(
      model,
      {
        words(finished, growing) {
          if (finishedPlace !== null) finishedPlace.textContent = finished;
          if (growingPlace !== null) growingPlace.textContent = growing;
        },
        phase(phase) {
          label(phase);
          button.disabled = phase === 'connecting' || phase === 'finishing';
          if (phase === 'listening') say(card.dataset['speak']);
        },
        sent(ms) {
          const shown = String(Math.min(seconds, Math.floor(ms / 1_000))).padStart(2, '0');
          if (clock !== null) clock.textContent = `0:${shown} / 0:${seconds}`;
        },
      },
      stopped,
    );
    button.hidden = true;
    part('next')?.removeAttribute('hidden');
    say(card.dataset['over']);
  } catch (error) {
    const code =
      typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
    say(card.dataset[reasonOf(code)], true);
    label('start');
    button.disabled = false;
    if (choice !== null) choice.disabled = false;
  }
}

/** The name of the sentence for a refusal. */
function reasonOf(code: string): string {
  switch (code) {
    case 'demo_used':
      return 'used';
    case 'demo_closed':
      return 'closed';
    case 'microphone_denied':
      return 'denied';
    case 'microphone_missing':
      return 'missing';
    case 'concurrency_limit_exceeded':
    case 'capacity_exceeded':
    case 'request_rate_exceeded':
    case 'service_restarting':
      return 'busy';
    default:
      return 'failed';
  }
}
