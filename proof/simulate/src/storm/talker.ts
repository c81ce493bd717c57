import { AUDIO } from '@svc-asr/protocol';
import { SvcClient, SvcError } from '@svc-asr/sdk';
import { connect } from '../../../../clients/sdk/src/stream/socket-node.ts';
import type { Connect } from '../../../../clients/sdk/src/stream/socket.ts';
import { SvcStream } from '../../../../clients/sdk/src/stream/svc-stream.ts';
import { startIn, VirtualProcess } from '../virtual/process.ts';
import type { Random } from '../virtual/random.ts';
import { scheduler } from '../virtual/scheduler.ts';
import { sleep } from '../clients/client-record.ts';
import { KEY_PREFIX, MODEL } from '../servers/settings.ts';
import { speak } from '../servers/speech.ts';

/** Less audio than real time, because thousands of talkers share one processor. */
const WRITE_EVERY_MS = 1_000;
const WRITE_SAMPLES = (AUDIO.sampleRateHz * 120) / 1000;
const FLUSH_EVERY_MS = 5_000;
const STREAM_MS = { mean: 20_000, min: 3_000, max: 60_000 };
const PAUSE_MS = [200, 1_000] as const;
const SPEAKERS = 100;

/** How a stream of a talker ended. */
export interface FinishedStream {
  readonly speaker: number;
  /** Every session that it was given. */
  readonly sessionIds: readonly string[];
  readonly samples: number;
  readonly text: string;
  /** The code of its error. Null: it finished. */
  readonly error: string | null;
}

/** What a cell wants to know about its talkers, as it happens. */
export interface TalkerWatch {
  onUpgrade(talker: Talker, host: string): void;
  /** `waitedFromMs`: when the stream began or was interrupted. */
  onReady(talker: Talker, waitedFromMs: number): void;
  onFinished(talker: Talker, stream: FinishedStream): void;
}

/** An application that streams again and again with the real SDK. */
export class Talker {
  readonly name: string;
  readonly accountId: string;
  readonly process: VirtualProcess;
  readonly #speaker: number;
  readonly #random: Random;
  readonly #watch: TalkerWatch;
  /** The node of its last connection. */
  host: string | null = null;
  isReady = false;
  /** Whether the stream was ready before. */
  wasReady = false;
  /** Since when it wants to send and can't. Null: it can, or has finished. */
  waitingSinceMs: number | null = null;
  /** Since when it is refused because its account has no free slot. */
  blockedSinceMs: number | null = null;
  isStopping = false;
  isDone = false;

  constructor(input: {
    readonly at: number;
    readonly accountId: string;
    readonly random: Random;
    readonly watch: TalkerWatch;
  }) {
    this.name = `talker-${input.at}`;
    this.accountId = input.accountId;
    this.#speaker = input.at % SPEAKERS;
    this.#random = input.random;
    this.#watch = input.watch;
    this.process = new VirtualProcess(this.name, { rate: input.random.between(0.9995, 1.0005) });
  }

  start(afterMs: number): void {
    startIn(this.process, () => void this.#run(afterMs));
  }

  async #run(afterMs: number): Promise<void> {
    const apiKey = KEY_PREFIX + this.accountId;
    const client = new SvcClient({ baseUrl: 'https://api.simulated', apiKey });
    await sleep(afterMs);
    while (!this.isStopping) {
      await this.#stream(client);
      await sleep(this.#random.between(...PAUSE_MS));
    }
    this.isDone = true;
  }

  async #stream(client: SvcClient): Promise<void> {
    const sessionIds = new Set<string>();
    this.wasReady = false;
    this.waitingSinceMs = scheduler.nowMs;
    const stream = new SvcStream(
      {
        getSession: async ({ idempotencyKey, signal }) => {
          const session = await client.sessions.create(
            { model: MODEL, maxAudioSeconds: 60 },
            { idempotencyKey, signal },
          );
          sessionIds.add(session.id);
          return session;
        },
      },
      this.#tapped(),
    );
    let error: string | null = null;
    let samples = 0;
    try {
      samples = await this.#talk(stream);
      await stream.finish();
    } catch (caught) {
      error = caught instanceof SvcError ? caught.code : String(caught);
    }
    const { text } = stream.transcript;
    this.isReady = false;
    this.waitingSinceMs = null;
    this.blockedSinceMs = null;
    const ended = { speaker: this.#speaker, sessionIds: [...sessionIds], samples, text, error };
    this.#watch.onFinished(this, ended);
  }

  /** Returns how many samples it wrote. */
  async #talk(stream: SvcStream): Promise<number> {
    const { mean, min, max } = STREAM_MS;
    const wantedMs = -Math.log(1 - this.#random.next()) * mean;
    const endsAtMs = scheduler.nowMs + Math.min(max, Math.max(min, wantedMs));
    const ending = { isOver: false };
    void stream.closed.then(() => (ending.isOver = true));
    let samples = 0;
    let flushedAtMs = scheduler.nowMs;
    while (!ending.isOver && !this.isStopping && scheduler.nowMs < endsAtMs) {
      ignoreFailure(stream.write(speak(this.#speaker, samples, WRITE_SAMPLES)));
      samples += WRITE_SAMPLES;
      if (scheduler.nowMs - flushedAtMs > FLUSH_EVERY_MS) {
        flushedAtMs = scheduler.nowMs;
        ignoreFailure(stream.flush());
      }
      await sleep(WRITE_EVERY_MS);
    }
    return samples;
  }

  #tapped(): Connect {
    return (address, handlers) => {
      this.host = new URL(address.url).hostname;
      this.#watch.onUpgrade(this, this.host);
      return connect(address, {
        ...handlers,
        onText: (text) => {
          if (text.startsWith('{"type":"ready"')) this.#onReady();
          handlers.onText(text);
        },
        onEnd: (end) => {
          this.isReady = false;
          if (end.code !== 1000) this.waitingSinceMs ??= scheduler.nowMs;
          handlers.onEnd(end);
        },
      });
    };
  }

  #onReady(): void {
    const sinceMs = this.waitingSinceMs;
    if (sinceMs !== null) this.#watch.onReady(this, sinceMs);
    this.isReady = true;
    this.wasReady = true;
    this.waitingSinceMs = null;
    this.blockedSinceMs = null;
  }
}

/** `finish()` fails for the same reason. */
function ignoreFailure(promise: Promise<unknown>): void {
  void promise.catch(() => {});
}
