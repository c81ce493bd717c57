import { openMicrophone, type Microphone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream, type SvcStream } from '@svc-asr/sdk/stream';

/** The page has no API key. It requests sessions from its own backend. */
const start = document.querySelector<HTMLButtonElement>('#start');
const stop = document.querySelector<HTMLButtonElement>('#stop');
const level = document.querySelector<HTMLMeterElement>('#level');
const now = document.querySelector('#now');
const said = document.querySelector('#said');
const problem = document.querySelector('#problem');

let talk: { stream: SvcStream; microphone: Microphone } | null = null;

async function begin(): Promise<void> {
  problem?.replaceChildren();
  const stream = openStream({
    getSession: fetchSession('/session'),
    // A pause ends a line. This must be shorter than the silence that the microphone gate still sends.
    endpointing: { silenceMs: 600 },
  });
  stream.on('delta', ({ text }) => now?.replaceChildren(text));
  stream.on('final', ({ text }) => {
    now?.replaceChildren('');
    if (text === '') return;
    const line = document.createElement('p');
    line.textContent = text;
    said?.append(line);
  });
  stream.on('error', ({ message }) => problem?.replaceChildren(message));
  try {
    const microphone = await openMicrophone({
      sink: stream,
      gate: true,
      onLevel: (db) => {
        if (level !== null) level.value = db;
      },
    });
    talk = { stream, microphone };
  } catch (error) {
    // finish() releases the session, even one that is still being created. close() would leave that one to expire after a minute.
    await stream.finish().catch(() => {});
    throw error;
  }
}

async function end(): Promise<void> {
  await talk?.microphone.stop();
  // A failed stream has already emitted an error event, and has no last final.
  const result = await talk?.stream.finish().catch(() => null);
  talk = null;
  if (result) document.title = `${result.final.billable_ms} ms charged`;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function onClick(button: HTMLButtonElement | null, work: () => Promise<void>): void {
  button?.addEventListener('click', () => {
    void work()
      .then(() => {
        for (const each of [start, stop]) each?.toggleAttribute('disabled');
        return undefined;
      })
      .catch((error: unknown) => problem?.replaceChildren(messageOf(error)));
  });
}

onClick(start, begin);
onClick(stop, end);
