import {
  CHUNK_SAMPLES,
  CONTEXT_SIZE,
  MODEL_IDS,
  type ModelId,
} from '@svc-asr/protocol/constants.ts';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineHealth,
  type EngineModel,
  type EngineStream,
  type OpenInput,
} from '../engine.ts';
import { SCRIPTED, ScriptedStream, type StreamScript } from './scripted-stream.ts';

export type { StreamScript } from './scripted-stream.ts';

export interface ScriptedOptions {
  /** The script of every stream, or of the n-th stream (from 0). */
  readonly script?: StreamScript | ((opened: { model: ModelId; ordinal: number }) => StreamScript);
  readonly capacity?: number;
  /** The name of its weights. */
  readonly build?: string;
  /** Whether it takes keyterms. They don't change a script. Default: true. */
  readonly keyterms?: boolean;
  /** The engine is not ready until it resolves. Opens wait for it. */
  readonly started?: Promise<void>;
  /** How long until a hanging stream is detected. Infinity: never. */
  readonly stalledAfterMs?: number;
}

/** A scripted engine that follows the same rules as the real one. */
export interface ScriptedEngine extends Engine {
  /** Simulates a crash of the child process of every live stream. */
  crash(): void;
  /** Simulates a hang of the child process; child_stalled follows. */
  hang(): void;
}

/** The default script. */
export const GREETINGS: Readonly<Record<ModelId, readonly string[]>> = {
  'svc-asr-kikuyu-v1': ['nĩ wega mũno', 'ũhoro waku mũrata wakwa', 'tũgũcemania rũciinĩ'],
  'svc-asr-dholuo-v1': ['erokamano ahinya', 'idhi nade osiepna', 'wabiro romo kiny gokinyi'],
};

export function createScriptedEngine(options: ScriptedOptions = {}): ScriptedEngine {
  const { capacity = 64, stalledAfterMs = 2_000, build = SCRIPTED, keyterms = true } = options;
  const streams = new Set<ScriptedStream>();
  const closing = new AbortController();
  const started = (options.started ?? Promise.resolve()).then(() => void (isStarted = true));
  let isStarted = options.started === undefined;
  let opening = 0;
  let opened = 0;

  function scriptFor(model: ModelId): StreamScript {
    const ordinal = opened++;
    if (typeof options.script === 'function') return options.script({ model, ordinal });
    return options.script ?? { texts: GREETINGS[model] };
  }

  async function open(input: OpenInput): Promise<EngineStream> {
    input.signal.throwIfAborted();
    if (closing.signal.aborted) throw new EngineFailed();
    const script = scriptFor(input.model);
    if (script.busy === true || streams.size + opening >= capacity) throw new EngineBusy();
    opening += 1;
    try {
      const given = AbortSignal.any([input.signal, closing.signal]);
      if (!isStarted) await Promise.race([started, aborted(given)]);
      await passed(script.openMs ?? 0, given);
    } finally {
      opening -= 1;
    }
    input.signal.throwIfAborted();
    if (closing.signal.aborted) throw new EngineFailed();
    const stream = new ScriptedStream({
      script,
      build,
      stalledAfterMs,
      onEnd: () => streams.delete(stream),
    });
    streams.add(stream);
    return stream;
  }

  return {
    describe: (model) => describe(model, { build, keyterms }),
    open,
    health(): EngineHealth {
      const ready = !closing.signal.aborted && isStarted;
      return { ready, active: streams.size + opening, capacity, lagMs: 0 };
    },
    async close(): Promise<void> {
      closing.abort();
      for (const stream of streams) stream.fail('engine_closed');
    },
    crash(): void {
      for (const stream of streams) stream.fail('child_died');
    },
    hang(): void {
      for (const stream of streams) stream.hang();
    },
  };
}

function describe(
  model: ModelId,
  weights: { readonly build: string; readonly keyterms: boolean },
): EngineModel {
  if (!MODEL_IDS.includes(model)) throw new RangeError('Unknown model.');
  const sizes = { chunkSamples: CHUNK_SAMPLES, contextSize: CONTEXT_SIZE };
  return { id: model, ...sizes, ...weights, canPeek: true };
}

function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) =>
    signal.addEventListener('abort', () => resolve(), { once: true }),
  );
}

/** Resolves after that time or on abort, whichever is first. */
function passed(ms: number, signal: AbortSignal): Promise<void> {
  if (ms <= 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
