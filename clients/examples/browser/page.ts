import { openMicrophone } from '@svc-asr/sdk/microphone';
import { fetchSession, openStream, SvcError, type SvcStream } from '@svc-asr/sdk/stream';

/** The page has no API key. It requests sessions from its own backend. */
const start = document.querySelector<HTMLButtonElement>('#start');
const stop = document.querySelector<HTMLButtonElement>('#stop');
const level = document.querySelector<HTMLMeterElement>('#level');
const now = document.querySelector('#now');
const said = document.querySelector('#said');
const state = document.querySelector('#state');
const problem = document.querySelector('#problem');

let running: SvcStream | null = null;

function begin(): void {
  problem?.replaceChildren();
  showRunning(true);
  state?.replaceChildren('Connecting');
  const stream = openStream({
    getSession: fetchSession('/session'),
    // A pause ends a line. This must be shorter than the silence that the microphone gate still sends.
    endpointing: { silenceMs: 600 },
  });
  listen(stream);
  running = stream;
  openMicrophone({ sink: stream, gate: true, onLevel: showLevel }).catch((error: unknown) => {
    // A stream that ended first has emitted its error.
    if (error instanceof SvcError && error.code === 'stream_closed') return;
    showProblem(error);
    void end(stream);
  });
}

function listen(stream: SvcStream): void {
  stream.on('ready', () => state?.replaceChildren('Listening'));
  stream.on('waiting', ({ error }) => state?.replaceChildren(error.userMessage));
  stream.on('reconnecting', ({ close }) => {
    console.warn(close.message);
    state?.replaceChildren(close.userMessage);
  });
  stream.on('delta', ({ text }) => now?.replaceChildren(text));
  stream.on('final', ({ text }) => {
    now?.replaceChildren('');
    if (text === '') return;
    const line = document.createElement('p');
    line.textContent = text;
    said?.append(line);
  });
  stream.on('error', showProblem);
  stream.on('close', () => {
    showRunning(false);
    state?.replaceChildren();
    now?.replaceChildren();
  });
}

/** Stops the microphone at once, and releases the session, even one that is still being created. */
async function end(stream: SvcStream): Promise<void> {
  // A failed stream has already emitted an error event, and has no last final.
  const result = await stream.finish().catch(() => null);
  if (result) document.title = `${result.final.billable_ms} ms charged`;
}

/** The user reads `userMessage`. The message for developers goes to the console. */
function showProblem(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
  problem?.replaceChildren(error instanceof SvcError ? error.userMessage : String(error));
}

function showLevel(db: number): void {
  if (level !== null) level.value = db;
}

function showRunning(isRunning: boolean): void {
  start?.toggleAttribute('disabled', isRunning);
  stop?.toggleAttribute('disabled', !isRunning);
}

start?.addEventListener('click', begin);
stop?.addEventListener('click', () => {
  if (running !== null) void end(running);
});
