import { availableParallelism } from 'node:os';
import { setTimeout as after } from 'node:timers/promises';
import { MODEL_IDS, type ModelId } from '@svc-asr/protocol';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineFailure,
  type EngineHealth,
  type EngineModel,
} from '../engine.ts';
import { presentChildConfig } from './child-config.ts';
import { ChunkBuffers } from './chunk-buffers.ts';
import { EngineChild } from './engine-child.ts';
import { loadPoolModels, type PoolModel } from './pool-models.ts';
import type { PooledStream } from './pooled-stream.ts';

export interface SherpaOptions {
  /** Where the manifests and weights are. */
  readonly modelsDir: string;
  /** How many child processes recognise; the cores but one, at least one. */
  readonly children?: number;
  /** How many streams a child takes. */
  readonly slotsPerChild?: number;
  /** What an operator should hear of. */
  readonly onNotice?: (notice: PoolNotice) => void;
}

export interface PoolNotice {
  readonly notice: 'child_ready' | 'child_gone';
  readonly pid: number;
  readonly reason?: EngineFailure;
}

export interface SherpaEngine extends Engine {
  open(input: { model: ModelId; signal: AbortSignal }): Promise<PooledStream>;
  /** The processes that serve streams now. */
  children(): readonly { readonly pid: number; readonly active: number }[];
}

/** A core decodes about 170 live streams of the demonstration model; this leaves a good third of it for bursts. */
const SLOTS_PER_CHILD = 100;
/** A child that lived this long was sound: it is replaced at once. */
const LIVED_MS = 1_000;
const RESTART_MS_MIN = 100;
const RESTART_MS_MAX = 10_000;

/** Resolves when every child has loaded its models; rejects, leaving none behind, when one cannot. */
export async function startSherpaEngine(options: SherpaOptions): Promise<SherpaEngine> {
  const pool = new Pool(options, await loadPoolModels(options.modelsDir));
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
  readonly #size: number;
  readonly #slotsPerChild: number;
  readonly #onNotice: (notice: PoolNotice) => void;
  readonly #buffers = new ChunkBuffers();
  readonly #children = new Set<EngineChild>();
  readonly #closing = new AbortController();
  #restartMs = 0;

  constructor(options: SherpaOptions, models: readonly PoolModel[]) {
    this.#models = models;
    this.#config = presentChildConfig(models);
    this.#size = options.children ?? Math.max(1, availableParallelism() - 1);
    this.#slotsPerChild = options.slotsPerChild ?? SLOTS_PER_CHILD;
    this.#onNotice = options.onNotice ?? (() => {});
  }

  async start(): Promise<void> {
    await Promise.all(Array.from({ length: this.#size }, () => this.#spawn()));
  }

  describe(model: ModelId): EngineModel {
    return this.#modelOf(model).description;
  }

  async open(input: { model: ModelId; signal: AbortSignal }): Promise<PooledStream> {
    const model = this.#models.indexOf(this.#modelOf(input.model));
    // A child may go while it opens; another one then does it, as long as there is one.
    for (;;) {
      input.signal.throwIfAborted();
      if (this.#closing.signal.aborted) throw new EngineFailed();
      const child = this.#leastLoaded();
      if (child === undefined) throw new EngineBusy();
      try {
        return await child.open(model, input.signal);
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
      capacity: serving.length * this.#slotsPerChild,
      lagMs: serving.reduce((most, child) => Math.max(most, child.lagMs), 0),
    };
  }

  children(): readonly { pid: number; active: number }[] {
    return this.#serving().map(({ pid, active }) => ({ pid, active }));
  }

  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all([...this.#children].map((child) => child.close('engine_closed')));
  }

  #modelOf(id: ModelId): PoolModel {
    const model = this.#models.find(({ description }) => description.id === id);
    if (model === undefined) throw new RangeError(`No model has this id: ${MODEL_IDS.join(', ')}`);
    return model;
  }

  #serving(): EngineChild[] {
    return [...this.#children].filter((child) => child.available);
  }

  #leastLoaded(): EngineChild | undefined {
    return this.#serving()
      .filter((child) => child.active < this.#slotsPerChild)
      .toSorted((a, b) => a.active - b.active)[0];
  }

  async #spawn(): Promise<void> {
    const child = new EngineChild({ config: this.#config, buffers: this.#buffers });
    this.#children.add(child);
    void child.exited.then(() => this.#children.delete(child));
    await child.ready;
    const readyAtMs = performance.now();
    this.#onNotice({ notice: 'child_ready', pid: child.pid });
    void child.gone.then((reason) => {
      if (this.#closing.signal.aborted) return undefined;
      this.#onNotice({ notice: 'child_gone', pid: child.pid, reason });
      if (performance.now() - readyAtMs > LIVED_MS) this.#restartMs = 0;
      return this.#replace();
    });
  }

  /** Tries until it works, ever more slowly: a node that serves less is better than one that gives up. */
  async #replace(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      await after(this.#restartMs, undefined, { signal }).catch(() => {});
      this.#restartMs = Math.min(Math.max(this.#restartMs * 2, RESTART_MS_MIN), RESTART_MS_MAX);
      if (signal.aborted) return;
      try {
        return await this.#spawn();
      } catch {
        // The next attempt comes later.
      }
    }
  }
}
