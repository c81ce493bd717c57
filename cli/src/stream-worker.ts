import type { AsrSession, ModelId } from '@svc-asr/sdk';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { afterFirstAudio, Feeder, TURN_SILENCE_MS } from './feeder.ts';
import { Mark, PartialTranscriptError, type FileTranscript } from './file-transcript.ts';
import { decodeFile } from './media.ts';
import type { SessionPool } from './session-pool.ts';

export interface WorkerOptions {
  readonly model: ModelId;
  readonly pool: SessionPool;
  readonly skipSilence: boolean;
  readonly interrupted: AbortSignal;
}

/** Progress of one file. */
export interface FileObserver {
  onSent(ms: number): void;
  onText(text: string): void;
  /** Why the worker is waiting. Empty while it runs. */
  onNote(note: string): void;
}

const MARGIN_MS = 10_000;

/**
 * Transcribes one file after another. Files that fit into the rest of a session share it: a session is charged in whole
 * seconds, so sharing saves the rounding and the time to create sessions.
 */
export class StreamWorker {
  readonly #options: WorkerOptions;
  #stream: SvcStream | null = null;
  #observer: FileObserver | null = null;
  #session: { readonly reservedMs: number; sentMs: number } | null = null;
  #streamMs = 0;

  constructor(options: WorkerOptions) {
    this.#options = options;
  }

  async transcribe(
    path: string,
    durationMs: number | null,
    observer: FileObserver,
  ): Promise<FileTranscript> {
    const { interrupted, skipSilence } = this.#options;
    const audio = await afterFirstAudio(decodeFile(path, interrupted));
    this.#observer = observer;
    const stream = await this.#streamFor(durationMs);
    const mark = new Mark(stream, this.#streamMs);
    const feeder = new Feeder(stream, { skipSilence });
    const stop = (): void => {
      // Without a session there is nothing to wait for.
      if (stream.sessionId === null) void stream.close();
    };
    interrupted.addEventListener('abort', stop, { once: true });
    let problem: unknown = null;
    try {
      for await (const bytes of audio) {
        await feeder.push(bytes);
        observer.onSent(feeder.passedMs);
      }
      await feeder.end();
    } catch (error) {
      problem = error;
    }
    // Audio that was sent is charged, so its text is fetched even after an interruption or a broken file.
    await (interrupted.aborted ? stream.finish() : stream.flush()).catch((error: unknown) => {
      problem ??= error;
    });
    interrupted.removeEventListener('abort', stop);
    this.#streamMs += feeder.streamMs;
    if (this.#session !== null) this.#session.sentMs += feeder.sentMs;
    const transcript = mark.transcript(stream, feeder.passedMs);
    if (interrupted.aborted) problem ??= new Error('Interrupted.');
    if (problem === null) return transcript;
    throw transcript.text === '' ? problem : new PartialTranscriptError(problem, transcript);
  }

  async close(): Promise<void> {
    await this.#stream?.close();
  }

  async #streamFor(durationMs: number | null): Promise<SvcStream> {
    if (this.#stream !== null && this.#fits(durationMs)) return this.#stream;
    await this.close();
    return this.#open();
  }

  #fits(durationMs: number | null): boolean {
    if (durationMs === null || this.#session === null) return false;
    const { reservedMs, sentMs } = this.#session;
    return sentMs + durationMs + MARGIN_MS <= reservedMs;
  }

  #open(): SvcStream {
    const { pool } = this.#options;
    const stream = openStream({
      getSession: async (request) => {
        const session = await pool.create(this, request, ({ message }) =>
          this.#observer?.onNote(`${message} Waiting ...`),
        );
        this.#onSession(session);
        return session;
      },
      endpointing: { silenceMs: TURN_SILENCE_MS },
    });
    stream.on('ready', () => this.#observer?.onNote(''));
    stream.on('delta', ({ text }) => this.#observer?.onText(text));
    stream.on('waiting', ({ error }) => this.#observer?.onNote(`${error.message} Waiting ...`));
    stream.on('reconnecting', ({ why }) => {
      if (why === 'failover') this.#observer?.onNote('The session failed; reconnecting ...');
    });
    stream.on('close', () => {
      pool.release(this);
      if (this.#stream === stream) this.#stream = null;
    });
    this.#stream = stream;
    this.#streamMs = 0;
    this.#session = null;
    this.#observer?.onNote('Waiting for a session ...');
    return stream;
  }

  #onSession(session: AsrSession): void {
    this.#session = { reservedMs: session.audio.max_audio_seconds * 1000, sentMs: 0 };
  }
}
