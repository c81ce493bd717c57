import { availableParallelism } from 'node:os';
import { setTimeout as after } from 'node:timers/promises';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineFailure,
  type EngineHealth,
  type EngineModel,
  type OpenInput,
} from '../engine.ts';
import { ONE_THREAD, type Compute } from '../compute.ts';
import { findChangedFile } from '../weights/model-files.ts';
import { presentChildConfig } from './child-config.ts';
import { ChunkBuffers } from './chunk-buffers.ts';
import { addFigures, noFigures, type DecodeFigures } from './decode-figures.ts';
import { EngineChild } from './engine-child.ts';
import { loadPoolModels, type PoolModel } from './pool-models.ts';
import type { PooledStream } from './pooled-stream.ts';

interface SherpaOptions {
  /** The folder with manifests and weights. */
  readonly modelsDir: string;
  /** Number of child processes. Default: one less than the cores, by threads per child, at least one. */
  readonly children?: number;
  /** Streams per child. Default: 100, or fewer if the weights were measured to be slower. */
  readonly slotsPerChild?: number;
  /** Threads per decode and where it runs. Default: one thread of the CPU. */
  readonly compute?: Partial<Compute>;
  /** The user that children run as. Changing it needs CAP_SETUID and CAP_SETGID. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Called with events that an operator should know about. */
  readonly onNotice?: (notice: PoolNotice) => void;
}

export type PoolNotice =
  | { readonly notice: 'child_ready'; readonly pid: number }
  | { readonly notice: 'child_gone'; readonly pid: number; readonly reason: EngineFailure }
  /** No child is started until the file is restored or the process is restarted. */
  | { readonly notice: 'weights_changed'; readonly file: string };

/** How each notice is logged. */
export const POOL_NOTICES = {
  child_ready: ['info', 'A recogniser is ready.'],
  child_gone: ['error', 'A recogniser died. A new one is starting.'],
  weights_changed: [
    'error',
    'A recogniser was not started: a model file changed. Restore it, or restart to use the new one.',
  ],
} as const satisfies Record<PoolNotice['notice'], readonly ['info' | 'error', string]>;

export interface SherpaEngine extends Engine {
  open(input: OpenInput): Promise<PooledStream>;
  /** The processes that serve streams now. */
  children(): readonly { readonly pid: number; readonly active: number }[];
  /** How many processes were lost and replaced since the start, by reason. */
  restarts(): Readonly<Partial<Record<EngineFailure, number>>>;
  /** The figures of all processes since the start. */
  decodeFigures(): DecodeFigures;
}

/** With this many more streams than another, a child gives some away. Smaller differences come and go with callers. */
const CROWDED_BY = 4;
/** A child that ran this long was healthy, so it is replaced at once. */
const LIVED_MS = 1_000;
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;

/** Resolves when every child has loaded its models. If one fails, stops all and rejects. */
export async function startSherpaEngine(options: SherpaOptions): Promise<SherpaEngine> {
  const compute = { ...ONE_THREAD, ...options.compute };
  const pool = new Pool(options, await loadPoolModels(options.modelsDir, compute));
  try {
    await pool.start();
  } catch (error) {
    await pool.close();
    throw error;
  }
  return pool;
}

class Pool implements SherpaEngine {
  readonly #models: readonly PoolModel[];
  readonly #config: string;
  readonly #sha256ByPath: ReadonlyMap<string, string>;
  readonly #size: number;
  readonly #slotsPerChild: number | undefined;
  readonly #user: SherpaOptions['user'];
  readonly #onNotice: (notice: PoolNotice) => void;
  readonly #buffers = new ChunkBuffers();
  readonly #children = new Set<EngineChild>();
  readonly #closing = new AbortController();
  readonly #restarts: Partial<Record<EngineFailure, number>> = { child_died: 0, child_stalled: 0 };
  /** Of exited processes. */
  readonly #formerFigures = noFigures();
  #restartMs = 0;

  constructor(options: SherpaOptions, models: readonly PoolModel[]) {
    this.#models = models;
    this.#config = presentChildConfig(models.map(({ child }) => child));
    this.#sha256ByPath = new Map(models.flatMap((model) => [...model.sha256ByPath]));
    const threads = options.compute?.threads ?? 1;
    this.#size =
      options.children ?? Math.max(1, Math.floor((availableParallelism() - 1) / threads));
    this.#slotsPerChild = options.slotsPerChild;
    this.#user = options.user;
    this.#onNotice = options.onNotice ?? (() => {});
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#size }, () => this.#spawn()));
  }

  describe(model: ModelId): EngineModel {
    return this.#modelOf(model).description;
  }

  async open(input: OpenInput): Promise<PooledStream> {
    const { description } = this.#modelOf(input.model);
    const { build } = description;
    const index = this.#models.findIndex((model) => model.description === description);
    const replayBytes = input.replay?.bytes ?? 0;
    if ((input.replay?.build ?? build) !== build) throw new EngineBusy();
    // If a child exits during the open, try another one.
    for (;;) {
      input.signal.throwIfAborted();
      if (this.#closing.signal.aborted) throw new EngineFailed();
      const child = this.#leastLoaded();
      if (child === undefined) throw new EngineBusy();
      try {
        return await child.open({ model: index, build, replayBytes, signal: input.signal });
      } catch (error) {
        if (!(error instanceof EngineFailed)) throw error;
      }
    }
  }

  health(): EngineHealth {
    const serving = this.#serving();
    return {
      ready: serving.length > 0,
      active: serving.reduce((sum, child) => sum + child.active, 0),
      capacity: serving.reduce((sum, child) => sum + this.#slotsOf(child), 0),
      lagMs: serving.reduce((most, child) => Math.max(most, child.lagMs), 0),
    };
  }

  children(): readonly { pid: number; active: number }[] {
    return this.#serving().map(({ pid, active }) => ({ pid, active }));
  }

  restarts(): Readonly<Partial<Record<EngineFailure, number>>> {
    return { ...this.#restarts };
  }

  decodeFigures(): DecodeFigures {
    const total = noFigures();
    addFigures(total, this.#formerFigures);
    for (const child of this.#children) addFigures(total, child.figures);
    return total;
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#children].map((child) => child.close('engine_closed')));
  }

  #modelOf(id: ModelId): PoolModel {
    const model = this.#models.find(({ description }) => description.id === id);
    if (model === undefined)
      throw new RangeError(`Unknown model id. Known ids: ${MODEL_IDS.join(', ')}`);
    return model;
  }

  /** The configured number of slots, or the number that the child measured. */
  #slotsOf(child: EngineChild): number {
    return this.#slotsPerChild ?? child.slots;
  }

  #serving(): EngineChild[] {
    return [...this.#children].filter((child) => child.available);
  }

  #leastLoaded(): EngineChild | undefined {
    return this.#serving()
      .filter((child) => child.active < this.#slotsOf(child))
      .toSorted((a, b) => a.active - b.active)[0];
  }

  async #spawn(): Promise<void> {
    const child = new EngineChild({
      config: this.#config,
      buffers: this.#buffers,
      isCrowded: ({ active }) => active >= (this.#leastLoaded()?.active ?? active) + CROWDED_BY,
      ...(this.#user === undefined ? {} : { user: this.#user }),
    });
    this.#children.add(child);
    void child.exited.then(() => this.#forget(child));
    await child.ready;
    const readyAtMs = performance.now();
    this.#onNotice({ notice: 'child_ready', pid: child.pid });
    void child.gone.then((reason) => {
      if (this.#closing.signal.aborted) return undefined;
      this.#onNotice({ notice: 'child_gone', pid: child.pid, reason });
      this.#restarts[reason] = (this.#restarts[reason] ?? 0) + 1;
      if (performance.now() - readyAtMs > LIVED_MS) this.#restartMs = 0;
      return this.#replace();
    });
  }

  #forget(child: EngineChild): void {
    this.#children.delete(child);
    addFigures(this.#formerFigures, child.figures);
  }

  /** Retries with backoff until it works. A node with fewer recognisers is better than one that exits. */
  async #replace(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await after(this.#restartMs, undefined, { signal }).catch(() => {});
      this.#restartMs = Math.min(Math.max(this.#restartMs * 2, RESTART_MS_MIN), RESTART_MS_MAX);
      if (signal.aborted) return;
      try {
        if (await this.#weightsChanged()) continue;
        return await this.#spawn();
      } catch {
        // The next attempt comes later.
      }
    }
  }

  /** Files that changed since the check could give other transcripts under the same build name, or attack the child. */
  async #weightsChanged(): Promise<boolean> {
    const file = await findChangedFile(this.#sha256ByPath);
    if (file === null) return false;
    this.#onNotice({ notice: 'weights_changed', file });
    return true;
  }
}
