import { openMicrophone, type Microphone } from '@svc-asr/sdk/microphone';
import {
  openStream,
  SvcError,
  type AsrSession,
  type EndpointingOptions,
  type SvcStream,
} from '@svc-asr/sdk/stream';
import { AUDIO, type ModelId } from '@svc-asr/protocol/constants.ts';
import { ConsoleApiError, isSignedOut, post } from '../../app/api.ts';
import { signInAgain } from '../../app/connection.ts';
import { decodeFile } from './decode-file.ts';
import { askLedger } from './ask-ledger.ts';
import { toAnswer } from './keyterms.ts';
import type { RawEvent } from './tools/raw-events.tsx';
import type { RunEvent } from './run.ts';
import { WordAges } from './word-ages.ts';

export type Source =
  | { readonly kind: 'microphone' }
  /** The file from this time on: the rest of a file whose run reached its limit. */
  | { readonly kind: 'file'; readonly file: File; readonly fromMs: number }
  /** Audio of an earlier run, for another model. */
  | { readonly kind: 'samples'; readonly samples: Int16Array };

export interface Recognition {
  /** Stops recording and waits for the last words. */
  stop(): void;
  /** Aborts immediately. */
  abort(): void;
}

interface RecogniseInput {
  readonly source: Source;
  readonly model: ModelId;
  readonly maxAudioSeconds: number;
  readonly keyterms: readonly string[];
  /** Whether numbers are shown as digits. */
  readonly numbers: boolean;
  /** Which pauses end a line. False: only the end of the run does. */
  readonly endpointing: EndpointingOptions | false;
  /** Whether the transcript of the last run goes on. */
  readonly continues: boolean;
  readonly on: (event: RunEvent) => void;
  /** Loudness from 0 to 1. */
  readonly onLevel: (level: number) => void;
  /** Audio of the run, as it is captured or decoded. */
  readonly onSamples: (samples: Int16Array) => void;
  readonly onRaw: (event: RawEvent) => void;
}

const WORKLET_URL = '/microphone-worklet.js';
const FRAME_SAMPLES = 3_200;
/** The limit of a session that the stream reports as the reason of its end. */
const LIMIT_REACHED = 'max_audio_reached';

/** The console's server creates the session. The page gets a short-lived credential and never an API key. */
export function recognise(input: RecogniseInput): Recognition {
  const stopped = new AbortController();
  const aborted = new AbortController();
  const stop = () => stopped.abort();
  void run(input, { stopped: stopped.signal, stop, aborted: aborted.signal });
  return {
    stop,
    abort: () => {
      aborted.abort();
      stopped.abort();
    },
  };
}

interface Signals {
  readonly stopped: AbortSignal;
  /** Unplugging the microphone stops recording like a click does. */
  readonly stop: () => void;
  readonly aborted: AbortSignal;
}

async function run(input: RecogniseInput, signals: Signals): Promise<void> {
  const { model, continues, on } = input;
  const source = input.source.kind === 'microphone' ? 'microphone' : 'file';
  on({ type: 'started', model, source, continues });
  const opened: { session: AsrSession | null } = { session: null };
  try {
    on({ type: 'ended', ending: await stream(input, signals, opened) });
  } catch (error) {
    if (signals.aborted.aborted) return;
    on({ type: 'failed', ...explain(error) });
  }
  if (opened.session === null || signals.aborted.aborted) return;
  on({ type: 'asking' });
  const receipt = await askLedger(opened.session.id, signals.aborted);
  if (signals.aborted.aborted) return;
  on(receipt === null ? { type: 'pending' } : { type: 'settled', receipt });
}

/** Streams until the user stops, or until the limit of the session. */
async function stream(
  input: RecogniseInput,
  signals: Signals,
  opened: { session: AsrSession | null },
): Promise<'stopped' | 'limit'> {
  // Do everything that can fail before reserving credit.
  const samples = await samplesOf(input);
  const ages = new WordAges();
  const feed = new Feed(ages, {
    onSent: (sentMs) => input.on({ type: 'sent', sentMs }),
    onSamples: input.onSamples,
  });
  const microphone =
    samples === null
      ? await startMicrophone(feed, { onLevel: input.onLevel, onLost: signals.stop })
      : null;
  try {
    opened.session = await reserve(input);
    const open = openStream({
      session: opened.session,
      signal: signals.aborted,
      endpointing: input.endpointing,
      numbers: input.numbers,
      ...(input.keyterms.length === 0 ? {} : { keyterms: input.keyterms }),
    });
    reportRaw(open, input.onRaw);
    report(open, { input, ages });
    feed.attach(open);
    if (samples === null) await endOf(signals.stopped, open);
    else await sendAll(open, { samples, signal: signals.stopped });
    await microphone?.stop();
    input.onLevel(0);
    input.on({ type: 'stopping' });
    await open.finish();
    return (await open.closed).reason === LIMIT_REACHED ? 'limit' : 'stopped';
  } catch (error) {
    // Audio that was on its way when the session was full.
    if (error instanceof SvcError && error.code === LIMIT_REACHED) return 'limit';
    throw error;
  } finally {
    await microphone?.stop();
    input.onLevel(0);
  }
}

/** The audio to send, or null if it comes from the microphone. */
async function samplesOf({ source, onSamples }: RecogniseInput): Promise<Int16Array | null> {
  switch (source.kind) {
    case 'microphone':
      return null;
    case 'samples':
      return source.samples;
    case 'file': {
      const samples = await decodeFile(source.file);
      if (source.fromMs === 0) onSamples(samples);
      return samples.subarray(Math.round((source.fromMs * AUDIO.sampleRateHz) / 1_000));
    }
  }
}

const RAW = [
  'ready',
  'config_ack',
  'status',
  'speech_started',
  'delta',
  'speech_ended',
  'turn_eager',
  'turn_resumed',
  'final',
  'warning',
] as const;

/** Passes on every message of the stream, and how it closed. */
function reportRaw(open: SvcStream, onRaw: (event: RawEvent) => void): void {
  const startedAt = performance.now();
  const add = (event: unknown) =>
    onRaw({ atMs: performance.now() - startedAt, text: JSON.stringify(event) });
  for (const type of RAW) open.on(type, add);
  open.on('close', ({ code, reason }) => add({ close: code, reason }));
}

async function reserve(input: RecogniseInput): Promise<AsrSession> {
  const body = { model: input.model, max_audio_seconds: input.maxAudioSeconds };
  // It doesn't wait for a new sign-in: nobody may be recorded meanwhile.
  const session = await post<AsrSession>('/playground/session', body, { signIn: 'fail' }).catch(
    (error: unknown) => {
      if (isSignedOut(error)) void signInAgain();
      throw error;
    },
  );
  const { reserved, remaining } = session.credits;
  input.on({ type: 'reserved', remainingMs: remaining * 1_000, reservedMs: reserved * 1_000 });
  return session;
}

function report(open: SvcStream, { input, ages }: { input: RecogniseInput; ages: WordAges }): void {
  const isFile = input.source.kind !== 'microphone';
  const startedAt = performance.now();
  let finalMs = 0;
  // A server that doesn't say so is older than keyterms.
  open.on('ready', ({ keyterms }) => input.on({ type: 'ready', takesKeyterms: Boolean(keyterms) }));
  open.on('config_ack', ({ keyterms, endpointing }) => {
    if (input.endpointing !== false && input.endpointing.eagerMs !== undefined) {
      const reportsEager = endpointing !== false && endpointing.eager_ms !== undefined;
      input.on({ type: 'reports_eager', reportsEager });
    }
    if (keyterms === undefined) return;
    input.on({ type: 'keyterms', answer: toAnswer(input.keyterms, keyterms) });
  });
  open.on('turn_eager', (eager) => input.on({ type: 'eager', eager }));
  open.on('turn_resumed', () => input.on({ type: 'resumed' }));
  open.on('delta', (delta) => {
    ages.onText(delta.text, performance.now());
    input.on({ type: 'delta', delta, audioMs: finalMs + delta.audio_ms });
  });
  open.on('final', (final) => {
    const now = performance.now();
    finalMs = final.total_audio_ms;
    // The words of a file wait in a queue, so their age says nothing.
    const speed = isFile ? finalMs / (now - startedAt) : null;
    input.on({ type: 'final', final, ages: isFile ? null : ages.onFinal(final.words, now), speed });
  });
}

interface FeedListeners {
  readonly onSent: (sentMs: number) => void;
  readonly onSamples: (samples: Int16Array) => void;
}

/** Requests the microphone first, while the click still counts as a user gesture. Buffers audio until the session is ready. */
class Feed {
  readonly #ages: WordAges;
  readonly #on: FeedListeners;
  #waiting: Int16Array[] = [];
  #stream: SvcStream | null = null;

  constructor(ages: WordAges, on: FeedListeners) {
    this.#ages = ages;
    this.#on = on;
  }

  attach(stream: SvcStream): void {
    this.#stream = stream;
    for (const samples of this.#waiting.splice(0)) void this.#send(stream, samples);
  }

  async write(samples: Int16Array): Promise<void> {
    this.#ages.onCaptured(samples.length, performance.now());
    this.#on.onSamples(samples);
    if (this.#stream === null) this.#waiting.push(samples);
    else await this.#send(this.#stream, samples);
  }

  skip(ms: number): void {
    this.#stream?.skip(ms);
  }

  async #send(stream: SvcStream, samples: Int16Array): Promise<void> {
    this.#on.onSent(this.#ages.capturedMs);
    await stream.write(samples);
  }
}

function startMicrophone(
  feed: Feed,
  { onLevel, onLost }: { onLevel: (level: number) => void; onLost: () => void },
): Promise<Microphone> {
  return openMicrophone({
    sink: feed,
    workletUrl: WORKLET_URL,
    onLost,
    // Speech is between about -60 and -10 dB.
    onLevel: (db) => onLevel(Math.min(1, Math.max(0, (db + 60) / 50))),
  });
}

/** Resolves when the user stops, or when the stream reaches its limit or fails. */
async function endOf(stopped: AbortSignal, stream: SvcStream): Promise<void> {
  const stop = new Promise<void>((resolve) => {
    if (stopped.aborted) resolve();
    stopped.addEventListener('abort', () => resolve(), { once: true });
  });
  await Promise.race([stop, stream.closed]);
}

async function sendAll(
  stream: SvcStream,
  input: { samples: Int16Array; signal: AbortSignal },
): Promise<void> {
  const over = stream.closed.then(() => 'over' as const);
  for (let at = 0; at < input.samples.length && !input.signal.aborted; at += FRAME_SAMPLES) {
    const frame = input.samples.subarray(at, at + FRAME_SAMPLES);
    // The limit may be reached before the end of the file. Its final has then arrived already.
    if ((await Promise.race([stream.write(frame), over])) === 'over') return;
  }
}

function explain(error: unknown): { code: string; message: string } {
  if (error instanceof SvcError || error instanceof ConsoleApiError) {
    return { code: error.code, message: error.message };
  }
  return { code: 'page_error', message: String(error) };
}
