import { openMicrophone, type Microphone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream, type SvcStream } from '@svc-asr/sdk/stream';

/** The page holds no key: it asks its own server for sessions. */
const start = document.querySelector<HTMLButtonElement>('#start');
const stop = document.querySelector<HTMLButtonElement>('#stop');
const level = document.querySelector<HTMLMeterElement>('#level');
const now = document.querySelector('#now');
const said = document.querySelector('#said');
const problem = document.querySelector('#problem');

let talk: { stream: SvcStream; microphone: Microphone } | null = null;

async function begin(): Promise<void> {
  const stream = openStream({ getSession: fetchSession('/session') });
  stream.on('delta', ({ text }) => now?.replaceChildren(text));
  stream.on('final', ({ text }) => {
    now?.replaceChildren('');
    const line = document.createElement('p');
    line.textContent = text;
    said?.append(line);
  });
  stream.on('error', ({ message }) => problem?.replaceChildren(message));
  const microphone = await openMicrophone({
    sink: stream,
    gate: true,
    onLevel: (db) => {
      if (level !== null) level.value = db;
    },
  });
  talk = { stream, microphone };
}

async function end(): Promise<void> {
  await talk?.microphone.stop();
  const result = await talk?.stream.finish();
  talk = null;
  document.title = `${result?.final.billable_ms ?? 0} ms charged`;
}

function onClick(button: HTMLButtonElement | null, work: () => Promise<void>): void {
  button?.addEventListener('click', () => {
    void work()
      .then(() => {
        for (const each of [start, stop]) each?.toggleAttribute('disabled');
        return undefined;
      })
      .catch((error: unknown) => problem?.replaceChildren(String(error)));
  });
}

onClick(start, begin);
onClick(stop, end);
