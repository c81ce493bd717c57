import { setTimeout as sleep } from 'node:timers/promises';
import { SvcClient } from '@svc-asr/sdk';
import { openStream, type SvcStream, type Transcript } from '@svc-asr/sdk/stream';

/** Speaks like the talkers of proof/simulate/src/storm, so that the figures of both compare. */
const MODEL = 'svc-asr-kikuyu-v1';
const WRITE_EVERY_MS = 1_000;
const WRITE_MS = 120;
const FLUSH_EVERY_MS = 5_000;
const STREAM_MS = { mean: 20_000, min: 3_000, max: 60_000 };
const PAUSE_MS = { min: 200, more: 800 };

/** A stream that has ended, with every session that it was given. */
export interface EndedStream {
  readonly sessionIds: readonly string[];
  readonly writtenMs: number;
  /** Audio without a final, or with two. */
  readonly lostMs: number;
  /** The code of its error. Null: it finished. */
  readonly error: string | null;
}

/** An application that streams again and again with the real SDK. */
export class StormTalker {
  readonly #client: SvcClient;
  /** The node of its last connection. */
  host = '';
  isReady = false;
  /** When its stream was interrupted. Null: it goes on, or never began. */
  interruptedAtMs: number | null = null;
  /** How long its interrupted streams waited until they were ready again. */
  readonly gaps: number[] = [];
  readonly ended: EndedStream[] = [];
  #isStopping = false;
  #running: Promise<void> | null = null;

  constructor(client: { readonly url: string; readonly apiKey: string }) {
    this.#client = new SvcClient({ baseUrl: client.url, apiKey: client.apiKey });
  }

  start(afterMs: number): void {
    this.#running = this.#run(afterMs);
  }

  /** Resolves when its last stream has ended. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  async #run(afterMs: number): Promise<void> {
    await sleep(afterMs);
    while (!this.#isStopping) {
      await this.#stream();
      await sleep(PAUSE_MS.min + PAUSE_MS.more * Math.random());
    }
  }

  async #stream(): Promise<void> {
    const sessionIds: string[] = [];
    const stream = openStream({
      getSession: async ({ idempotencyKey, signal }) => {
        const session = await this.#client.sessions.create(
          { model: MODEL, maxAudioSeconds: 60 },
          { idempotencyKey, signal },
        );
        sessionIds.push(session.id);
        this.host = new URL(session.websocket_url).host;
        return session;
      },
    });
    stream.on('ready', () => this.#onReady());
    stream.on('reconnecting', ({ close }) => {
      if (close.reason === 'connection_stalled') return;
      this.isReady = false;
      this.interruptedAtMs ??= performance.now();
    });
    let error: string | null = null;
    let writtenMs = 0;
    try {
      writtenMs = await this.#talk(stream);
      await stream.finish();
    } catch (caught) {
      error = caught instanceof Error && 'code' in caught ? String(caught.code) : String(caught);
    }
    this.isReady = false;
    this.interruptedAtMs = null;
    const lostMs = error === null ? uncoveredMs(stream.transcript, writtenMs) : 0;
    this.ended.push({ sessionIds: [...new Set(sessionIds)], writtenMs, lostMs, error });
  }

  /** Returns how much audio it wrote. */
  async #talk(stream: SvcStream): Promise<number> {
    const { mean, min, max } = STREAM_MS;
    const beganMs = performance.now();
    const forMs = Math.min(max, Math.max(min, -Math.log(1 - Math.random()) * mean));
    const ending = { isOver: false };
    void stream.closed.then(() => (ending.isOver = true));
    const audio = new Int16Array(WRITE_MS * 16).map(() => 2 ** 15 * (Math.random() - 0.5));
    let writtenMs = 0;
    let flushedAtMs = beganMs;
    while (!ending.isOver && !this.#isStopping && performance.now() - beganMs < forMs) {
      void stream.write(audio).catch(() => {});
      writtenMs += WRITE_MS;
      if (performance.now() - flushedAtMs > FLUSH_EVERY_MS) {
        flushedAtMs = performance.now();
        void stream.flush().catch(() => {});
      }
      await sleep(WRITE_EVERY_MS);
    }
    return writtenMs;
  }

  #onReady(): void {
    const sinceMs = this.interruptedAtMs;
    if (sinceMs !== null) this.gaps.push(performance.now() - sinceMs);
    this.interruptedAtMs = null;
    this.isReady = true;
  }
}

/** The finals of a stream follow one another without a gap or an overlap. */
function uncoveredMs({ finals }: Transcript, writtenMs: number): number {
  let endMs = 0;
  let wrongMs = 0;
  for (const final of finals) {
    wrongMs += Math.abs(final.start_ms - endMs);
    endMs = final.end_ms;
  }
  return wrongMs + Math.abs(writtenMs - endMs);
}
