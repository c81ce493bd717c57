import { openMicrophone, type Microphone } from '@svc-asr/sdk/microphone';
import { openStream, SvcError, type AsrSession, type SvcStream } from '@svc-asr/sdk/stream';
import type { ModelId } from '@svc-asr/protocol/constants.ts';
import { ConsoleApiError, post } from '../../app/api.ts';
import { decodeFile } from './decode-file.ts';
import { LatencyMeter } from './latency.ts';
import type { RunEvent } from './run.ts';

export type Source =
  | { readonly kind: 'microphone' }
  | { readonly kind: 'file'; readonly file: File };

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
  readonly on: (event: RunEvent) => void;
  /** Loudness from 0 to 1. */
  readonly onLevel: (level: number) => void;
}

const WORKLET_URL = '/microphone-worklet.js';
const FRAME_SAMPLES = 3_200;

/** The console's server creates the session. The page gets a short-lived credential and never an API key. */
export function recognise(input: RecogniseInput): Recognition {
  const stopped = new AbortController();
  const aborted = new AbortController();
  const stop = () => stopped.abort();
  void run(input, { stopped: stopped.signal, stop, aborted: aborted.signal }).catch(
    (error: unknown) => {
      if (!aborted.signal.aborted) input.on({ type: 'failed', ...explain(error) });
    },
  );
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
  input.on({ type: 'started' });
  // Do everything that can fail before reserving credit.
  const samples = input.source.kind === 'file' ? await decodeFile(input.source.file) : null;
  const meter = new LatencyMeter();
  const feed = new Feed(meter);
  const microphone =
    samples === null
      ? await startMicrophone(feed, { onLevel: input.onLevel, onLost: signals.stop })
      : null;
  try {
    const stream = await open(input, { meter, signal: signals.aborted });
    feed.attach(stream);
    if (samples === null) await endOf(signals.stopped, stream);
    else await sendAll(stream, { samples, meter, signal: signals.stopped });
    await microphone?.stop();
    input.onLevel(0);
    input.on({ type: 'stopping' });
    await stream.finish();
    input.on({ type: 'finished' });
  } finally {
    await microphone?.stop();
    input.onLevel(0);
  }
}

async function open(
  input: RecogniseInput,
  part: { meter: LatencyMeter; signal: AbortSignal },
): Promise<SvcStream> {
  const session = await post<AsrSession>('/playground/session', {
    model: input.model,
    max_audio_seconds: input.maxAudioSeconds,
  });
  const { reserved, remaining } = session.credits;
  input.on({ type: 'reserved', remainingMs: remaining * 1_000, reservedMs: reserved * 1_000 });
  const stream = openStream({ session, signal: part.signal, endpointing: true });
  let finalMs = 0;
  stream.on('ready', () => input.on({ type: 'ready' }));
  stream.on('delta', (delta) => {
    const audioMs = finalMs + delta.audio_ms;
    const latencyMs = part.meter.onText(audioMs, performance.now());
    input.on({ type: 'delta', delta, audioMs, latencyMs });
  });
  stream.on('final', (final) => {
    finalMs = final.total_audio_ms;
    input.on({ type: 'final', final });
  });
  return stream;
}

/** Requests the microphone first, while the click still counts as a user gesture. Buffers audio until the session is ready. */
class Feed {
  readonly #meter: LatencyMeter;
  #waiting: Int16Array[] = [];
  #stream: SvcStream | null = null;

  constructor(meter: LatencyMeter) {
    this.#meter = meter;
  }

  attach(stream: SvcStream): void {
    this.#stream = stream;
    for (const samples of this.#waiting.splice(0)) void this.write(samples);
  }

  async write(samples: Int16Array): Promise<void> {
    if (this.#stream === null) {
      this.#waiting.push(samples);
      return;
    }
    this.#meter.onSent(samples.length, performance.now());
    await this.#stream.write(samples);
  }

  skip(ms: number): void {
    this.#stream?.skip(ms);
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
  input: { samples: Int16Array; meter: LatencyMeter; signal: AbortSignal },
): Promise<void> {
  const over = stream.closed.then(() => 'over' as const);
  for (let at = 0; at < input.samples.length && !input.signal.aborted; at += FRAME_SAMPLES) {
    const frame = input.samples.subarray(at, at + FRAME_SAMPLES);
    input.meter.onSent(frame.length, performance.now());
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
