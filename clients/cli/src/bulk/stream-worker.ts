import type { AsrSession, ModelId, SvcError } from '@svc-asr/sdk';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { InterruptedError } from '../command.ts';
import { describeWait } from '../error-messages.ts';
import { afterFirstAudio, audioFrom, Feeder, TURN_SILENCE_MS } from './feeder.ts';
import { reportKeyterms, type Recognition } from '../recognition-options.ts';
import { FileTranscript, Mark, PartialTranscriptError } from '../file-transcript.ts';
import { earlierMs, type Job } from './jobs.ts';
import { decodeFile } from '../media.ts';
import type { SessionPool } from './session-pool.ts';

export interface WorkerOptions {
  readonly model: ModelId;
  readonly pool: SessionPool;
  readonly skipSilence: boolean;
  readonly recognition: Recognition;
  /** Called with facts about the whole run. They may repeat. */
  readonly onNote: (note: string) => void;
  readonly interrupted: AbortSignal;
}

/** Progress of one file. */
export interface FileObserver {
  onSent(ms: number): void;
  onText(text: string): void;
  /** The service takes audio. */
  onReady(): void;
  /** Why the worker is waiting. */
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

  /** Transcribes a file, or the rest of it. Throws a `PartialTranscriptError` if it ends early. */
  async transcribe(job: Job, observer: FileObserver): Promise<FileTranscript> {
    const { interrupted, skipSilence } = this.#options;
    const fromMs = earlierMs(job);
    const audio = await afterFirstAudio(audioFrom(decodeFile(job.source, interrupted), fromMs));
    if (audio === null) {
      const rest = new FileTranscript({ finals: [], audioMs: fromMs, sessions: [] });
      return rest.continuing(job.journal?.earlier ?? null);
    }
    this.#observer = observer;
    const stream = await this.#streamFor(job.durationMs === null ? null : job.durationMs - fromMs);
    const mark = new Mark(stream, this.#streamMs - fromMs);
    const feeder = new Feeder(stream, { skipSilence });
    const saving = new Saving(job, stream, mark);
    const problem = await this.#send(audio, stream, feeder, () => {
      saving.check();
      observer.onSent(fromMs + feeder.passedMs);
    });
    this.#streamMs += feeder.streamMs;
    if (this.#session !== null) this.#session.sentMs += feeder.sentMs;
    const added = mark.transcript(stream, fromMs + feeder.passedMs);
    const unsaved = await saving.end(added);
    const failure = problem ?? unsaved ?? null;
    const transcript = added.continuing(job.journal?.earlier ?? null);
    if (failure === null) return transcript;
    throw transcript.finals.length === 0
      ? failure
      : new PartialTranscriptError(failure, transcript);
  }

  /** Sends all audio and waits for its text. Returns the problem that ended it early. */
  async #send(
    audio: AsyncIterable<Uint8Array>,
    stream: SvcStream,
    feeder: Feeder,
    onSent: () => void,
  ): Promise<unknown> {
    const { interrupted } = this.#options;
    let isUnused = false;
    const stop = (): void => {
      // Without a session there is nothing to wait for.
      isUnused = stream.sessionId === null;
      if (isUnused) void stream.close();
    };
    interrupted.addEventListener('abort', stop, { once: true });
    let problem: unknown = null;
    try {
      for await (const bytes of audio) {
        if (interrupted.aborted) break;
        await feeder.push(bytes);
        onSent();
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
    if (!interrupted.aborted) return problem;
    return problem === null || isUnused ? new InterruptedError() : problem;
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
    const { pool, recognition, onNote } = this.#options;
    const stream = openStream({
      getSession: async (request) => {
        const session = await pool.create(this, request, (refusal) => this.#onWait(refusal));
        this.#onSession(session);
        return session;
      },
      endpointing: { silenceMs: TURN_SILENCE_MS },
      ...recognition,
    });
    reportKeyterms(stream, recognition, onNote);
    stream.on('ready', () => this.#observer?.onReady());
    stream.on('delta', ({ text }) => this.#observer?.onText(text));
    stream.on('waiting', ({ error }) => this.#onWait(error));
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

  /** A line that stays: the progress line has no room for a whole sentence, and files and pipes have no progress line. */
  #onWait(refusal: SvcError): void {
    this.#options.onNote(describeWait(refusal));
    this.#observer?.onNote('Waiting for a session ...');
  }

  #onSession(session: AsrSession): void {
    this.#session = { reservedMs: session.audio.max_audio_seconds * 1000, sentMs: 0 };
  }
}

/** Writes each final of a file to its journal as it arrives. */
class Saving {
  readonly #job: Job;
  readonly #unsubscribe: () => void;
  #written: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | null = null;

  constructor(job: Job, stream: SvcStream, mark: Mark) {
    this.#job = job;
    this.#unsubscribe = stream.on('final', (event) => {
      const { final, charge } = mark.onFinal(event, stream.sessionId ?? '');
      const written = job.journal?.add(final, charge) ?? Promise.resolve();
      this.#written = written.catch((error: unknown) => void (this.#failure ??= { error }));
    });
  }

  /** Throws if a final could not be saved, so that no further audio is paid for. */
  check(): void {
    if (this.#failure !== null) throw this.#failure.error;
  }

  /** Saves the charges. Returns the error if something could not be saved. */
  async end(added: FileTranscript): Promise<unknown> {
    this.#unsubscribe();
    await this.#written;
    await this.#job.journal
      ?.endRun(added.sessions)
      .catch((error: unknown) => void (this.#failure ??= { error }));
    return this.#failure?.error;
  }
}
