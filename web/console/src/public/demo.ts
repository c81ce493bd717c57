import type { AsrSession, ErrorBody, ModelId } from '@svc-asr/protocol';
import { openMicrophone } from '@svc-asr/sdk/microphone';
import { openStream, SvcError } from '@svc-asr/sdk/stream';

export interface DemoView {
  /** The finished text, and the text that may still change. */
  readonly words: (finished: string, growing: string) => void;
  readonly phase: (phase: 'connecting' | 'listening' | 'finishing' | 'done') => void;
  readonly sent: (ms: number) => void;
}

const WORKLET_URL = '/microphone-worklet.js';
const LIMIT_REACHED = 'max_audio_reached';

/** A refusal, with the code of the server or of the microphone. */
class DemoError extends Error {
  readonly code: string;
  constructor(code: string) {
    super(code);
    this.name = 'DemoError';
    this.code = code;
  }
}

/** Transcribes the microphone until the limit of the session, or until `stopped`. */
export async function runDemo(model: ModelId, view: DemoView, stopped: AbortSignal): Promise<void> {
  view.phase('connecting');
  // A refused microphone must not use up the visitor's session.
  await askForMicrophone();
  const stream = openStream({ session: await reserve(model), endpointing: true });
  const finished: string[] = [];
  stream.on('ready', () => view.phase('listening'));
  stream.on('delta', ({ text }) => view.words(finished.join(' '), text));
  stream.on('final', ({ text }) => {
    if (text !== '') finished.push(text);
    view.words(finished.join(' '), '');
  });
  try {
    const microphone = await openMicrophone({ sink: stream, workletUrl: WORKLET_URL });
    const timer = setInterval(() => view.sent(microphone.sentMs), 200);
    await Promise.race([untilAborted(stopped), stream.closed]);
    clearInterval(timer);
    await microphone.stop();
    view.phase('finishing');
    await stream.finish();
  } catch (error) {
    // Audio that was on its way when the session was full.
    if (!(error instanceof SvcError && error.code === LIMIT_REACHED)) throw error;
  }
  view.phase('done');
}

async function askForMicrophone(): Promise<void> {
  try {
    const media = await navigator.mediaDevices.getUserMedia({ audio: true });
    for (const track of media.getTracks()) track.stop();
  } catch (error) {
    const isDenied = error instanceof DOMException && error.name === 'NotAllowedError';
    throw new DemoError(isDenied ? 'microphone_denied' : 'microphone_missing');
  }
}

async function reserve(model: ModelId): Promise<AsrSession> {
  const response = await fetch('/console-api/demo/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model }),
  });
  const body: AsrSession | ErrorBody = await response.json();
  if ('error' in body) throw new DemoError(body.error.code);
  return body;
}

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}
