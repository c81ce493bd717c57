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
  /** Ends the speaking: the last words are still waited for. */
  stop(): void;
  /** Ends everything now. */
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

/** The console's server makes the session; this page gets one short-lived credential and never a key. */
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
  /** An unplugged microphone ends the speaking as a click does: what was said is still finished. */
  readonly stop: () => void;
  readonly aborted: AbortSignal;
}

async function run(input: RecogniseInput, signals: Signals): Promise<void> {
  input.on({ type: 'started' });
  // What can fail before anything is reserved, fails before anything is reserved.
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
  const stream = openStream({ session, signal: part.signal });
  stream.on('ready', () => input.on({ type: 'ready' }));
  stream.on('delta', (delta) => {
    const latencyMs = part.meter.onHeard(delta.audio_ms, performance.now());
    input.on({ type: 'delta', delta, latencyMs });
  });
  stream.on('final', (final) => input.on({ type: 'final', final }));
  return stream;
}

/** The microphone is asked for first, while the click still counts; what it hears until the session is there waits. */
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
    // Speech lies between about -60 and -10 dB.
    onLevel: (db) => onLevel(Math.min(1, Math.max(0, (db + 60) / 50))),
  });
}

/** The user stops, or the stream ends by itself: at its limit, or because it failed. */
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
    // The limit may be reached before the file's end: what was heard is then final already.
    if ((await Promise.race([stream.write(frame), over])) === 'over') return;
  }
}

function explain(error: unknown): { code: string; message: string } {
  if (error instanceof SvcError || error instanceof ConsoleApiError) {
    return { code: error.code, message: error.message };
  }
  return { code: 'internal_error', message: String(error) };
}
