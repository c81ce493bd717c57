import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError, type ModelId } from '@svc-asr/sdk';
import { EXIT, InterruptedError, type Context } from '../command.ts';
import { exitCodeOf } from '../error-messages.ts';
import { PartialTranscriptError, type FileTranscript } from '../file-transcript.ts';
import type { Job } from './jobs.ts';
import type { ProgressBoard } from './progress-board.ts';
import type { Recognition } from '../recognition-options.ts';
import type { Result, Results } from './results.ts';
import { NO_ROOM, SessionPool } from './session-pool.ts';
import { openClient } from '../settings.ts';
import { StreamWorker } from './stream-worker.ts';

const SESSION_SECONDS = 300;

export interface Bulk {
  readonly jobs: readonly Job[];
  readonly model: ModelId;
  readonly workers: number;
  readonly skipSilence: boolean;
  readonly recognition: Recognition;
  readonly board: ProgressBoard;
  readonly results: Results;
}

/** Transcribes all files with up to `workers` streams at once and adds a result for each. */
export async function transcribeAll(context: Context, bulk: Bulk): Promise<void> {
  const run = new BulkRun(context, bulk, await createPool(context, bulk.model));
  await run.finish();
}

async function createPool({ env }: Context, model: ModelId): Promise<SessionPool> {
  const params = { model, maxAudioSeconds: SESSION_SECONDS };
  const onRateLimit = (limit: Parameters<SessionPool['onRateLimit']>[0]): void =>
    pool.onRateLimit(limit);
  const [once, patient] = await Promise.all([
    openClient(env, { retriesMax: 0, onRateLimit }),
    openClient(env, { onRateLimit }),
  ]);
  const pool: SessionPool = new SessionPool({
    createOnce: (signal) => once.sessions.create(params, { signal }),
    createPatiently: (signal) => patient.sessions.create(params, { signal }),
    sleep: (ms, signal) => sleep(ms, undefined, { signal }),
    now: () => performance.now(),
  });
  return pool;
}

class BulkRun {
  readonly #context: Context;
  readonly #bulk: Bulk;
  readonly #pool: SessionPool;
  readonly #queue: Job[];
  /** An error that every further file would meet too, such as a refused key. */
  #stopped: { readonly error: unknown } | null = null;
  /** Notes that were shown. Each is shown once. */
  readonly #noted = new Set<string>();

  constructor(context: Context, bulk: Bulk, pool: SessionPool) {
    this.#context = context;
    this.#bulk = bulk;
    this.#pool = pool;
    this.#queue = [...bulk.jobs];
  }

  async finish(): Promise<void> {
    let workers = Math.min(this.#bulk.workers, this.#queue.length);
    while (this.#queue.length > 0) {
      await Promise.all(Array.from({ length: workers }, () => this.#work()));
      // A worker that found no room may have returned its file after the others had ended.
      workers = 1;
    }
  }

  #noteOnce(note: string): void {
    if (!this.#noted.has(note)) this.#context.terminal.note(note);
    this.#noted.add(note);
  }

  async #work(): Promise<void> {
    const { model, skipSilence, recognition } = this.#bulk;
    const { interrupted } = this.#context;
    const pool = this.#pool;
    const onNote = (note: string): void => this.#noteOnce(note);
    const worker = new StreamWorker({ model, pool, skipSilence, recognition, interrupted, onNote });
    try {
      for (let job = this.#queue.shift(); job !== undefined; job = this.#queue.shift()) {
        if ((await this.#transcribeFile(worker, job)) === 'no_room') return;
      }
    } finally {
      await worker.close();
    }
  }

  async #transcribeFile(worker: StreamWorker, job: Job): Promise<'over' | 'no_room'> {
    const { board, results } = this.#bulk;
    const { interrupted } = this.#context;
    const { path } = job;
    if (interrupted.aborted || this.#stopped !== null) {
      await results.add({ is: 'not_started', path });
      return 'over';
    }
    try {
      const transcript = await this.#transcribe(worker, job);
      await results.add({ is: 'done', path, transcript });
      await job.journal?.remove();
      return 'over';
    } catch (problem) {
      const { error, transcript } = parts(problem);
      if (error instanceof SvcError && error.code === NO_ROOM) {
        this.#queue.unshift(job);
        board.requeued(path);
        return 'no_room';
      }
      await results.add(this.#failure(path, error, transcript));
      return 'over';
    }
  }

  #failure(path: string, error: unknown, transcript: FileTranscript | null): Result {
    const code = exitCodeOf(error);
    const isFatal = code === EXIT.refused || code === EXIT.noCredit;
    const hadStopped = isFatal && this.#stopped !== null;
    if (isFatal) this.#stopped ??= { error };
    if (transcript === null && (hadStopped || error instanceof InterruptedError)) {
      return { is: 'not_started', path };
    }
    return { is: 'failed', path, error, transcript };
  }

  async #transcribe(worker: StreamWorker, job: Job): Promise<FileTranscript> {
    const { board } = this.#bulk;
    const { path } = job;
    board.started(path);
    return worker.transcribe(job, {
      onSent: (ms) => board.sent(path, ms),
      onText: (text) => board.text(path, text),
      onReady: () => board.ready(path),
      onNote: (note) => board.note(path, note),
    });
  }
}

function parts(problem: unknown): { error: unknown; transcript: FileTranscript | null } {
  if (!(problem instanceof PartialTranscriptError)) return { error: problem, transcript: null };
  return { error: problem.cause, transcript: problem.transcript };
}
