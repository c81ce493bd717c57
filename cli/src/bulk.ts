import { access } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { SvcError, type ModelId } from '@svc-asr/sdk';
import { EXIT, type Context } from './command.ts';
import { exitCodeOf } from './error-messages.ts';
import { PartialTranscriptError, type FileTranscript } from './file-transcript.ts';
import { durationMs } from './media.ts';
import type { ProgressBoard } from './progress-board.ts';
import type { Results } from './results.ts';
import { NO_ROOM, SessionPool } from './session-pool.ts';
import { openClient } from './settings.ts';
import { StreamWorker } from './stream-worker.ts';

const SESSION_SECONDS = 300;
const PROBES = 4;

export interface Bulk {
  readonly paths: readonly string[];
  readonly model: ModelId;
  readonly jobs: number;
  readonly skipSilence: boolean;
  readonly board: ProgressBoard;
  readonly results: Results;
}

/** Transcribes all files with up to `jobs` workers and adds a result for each. */
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
  readonly #queue: string[];
  readonly #durations = new Map<string, Promise<number | null>>();
  /** An error that every further file would meet too, such as a refused key. */
  #stopped: { readonly error: unknown } | null = null;

  constructor(context: Context, bulk: Bulk, pool: SessionPool) {
    this.#context = context;
    this.#bulk = bulk;
    this.#pool = pool;
    this.#queue = [...bulk.paths];
  }

  async finish(): Promise<void> {
    const probing = this.#probeAll();
    let jobs = Math.min(this.#bulk.jobs, this.#queue.length);
    while (this.#queue.length > 0) {
      await Promise.all(Array.from({ length: jobs }, () => this.#work()));
      // A worker that found no room may have returned its file after the others had ended.
      jobs = 1;
    }
    await probing;
  }

  /** Finds out the lengths in the background, for the time left. */
  async #probeAll(): Promise<void> {
    const paths = [...this.#bulk.paths];
    const probe = async (): Promise<void> => {
      for (let path = paths.shift(); path !== undefined; path = paths.shift()) {
        if (this.#context.interrupted.aborted) return;
        this.#bulk.board.duration(path, await this.#duration(path));
      }
    };
    await Promise.all(Array.from({ length: PROBES }, probe));
  }

  #duration(path: string): Promise<number | null> {
    const known = this.#durations.get(path) ?? durationMs(path);
    this.#durations.set(path, known);
    return known;
  }

  async #work(): Promise<void> {
    const { model, skipSilence } = this.#bulk;
    const { interrupted } = this.#context;
    const worker = new StreamWorker({ model, pool: this.#pool, skipSilence, interrupted });
    try {
      for (let path = this.#queue.shift(); path !== undefined; path = this.#queue.shift()) {
        if ((await this.#file(worker, path)) === 'no_room') return;
      }
    } finally {
      await worker.close();
    }
  }

  async #file(worker: StreamWorker, path: string): Promise<'over' | 'no_room'> {
    const { board, results } = this.#bulk;
    try {
      if (this.#context.interrupted.aborted) throw new Error('Interrupted.');
      if (this.#stopped !== null) throw this.#stopped.error;
      const transcript = await this.#transcribe(worker, path);
      await results.add({ is: 'done', path, transcript });
      return 'over';
    } catch (problem) {
      const { error, transcript } = parts(problem);
      if (error instanceof SvcError && error.code === NO_ROOM) {
        this.#queue.unshift(path);
        board.requeued(path);
        return 'no_room';
      }
      const code = exitCodeOf(error);
      if (code === EXIT.refused || code === EXIT.noCredit) this.#stopped ??= { error };
      const isInterrupted = this.#context.interrupted.aborted;
      await results.add({ is: 'failed', path, error, isInterrupted, transcript });
      return 'over';
    }
  }

  async #transcribe(worker: StreamWorker, path: string): Promise<FileTranscript> {
    const { board } = this.#bulk;
    await access(path);
    board.started(path);
    return worker.transcribe(path, await this.#duration(path), {
      onSent: (ms) => board.sent(path, ms),
      onText: (text) => board.text(path, text),
      onNote: (note) => board.note(path, note),
    });
  }
}

function parts(problem: unknown): { error: unknown; transcript: FileTranscript | null } {
  if (!(problem instanceof PartialTranscriptError)) return { error: problem, transcript: null };
  return { error: problem.cause, transcript: problem.transcript };
}
