import { CHUNK_SAMPLES, CONTEXT_SIZE, MODEL_IDS } from '@svc-asr/protocol';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineFailure,
  type EngineStream,
  type OpenInput,
} from '@svc-asr/engine/core.ts';
import type { Random } from '../virtual/random.ts';
import { ModelStream } from './model-stream.ts';

const BUILD = 'model';
/** How long until a recogniser that hangs is ended. */
const STALLED_MS = 2_000;

interface Recogniser {
  readonly name: string;
  readonly streams: Set<ModelStream>;
  isUp: boolean;
  isHung: boolean;
}

export interface ModelEngine extends Engine {
  /** One recogniser dies, or hangs until it is found out. Another one takes its place after a while. */
  lose(recogniser: number, how: 'dies' | 'hangs', backAfterMs: number): void;
}

/**
 * A recogniser of simulated speech, with the rules of the real one: several child processes with a number of slots each,
 * whose streams are lost together.
 */
export function createModelEngine(input: {
  readonly recognisers: number;
  readonly slots: number;
  readonly decodeMs: readonly [number, number];
  readonly openMs: readonly [number, number];
  readonly random: Random;
}): ModelEngine {
  const { slots, random } = input;
  const pool: Recogniser[] = Array.from({ length: input.recognisers }, (_, at) => ({
    name: `recogniser-${at}`,
    streams: new Set(),
    isUp: true,
    isHung: false,
  }));
  let opening = 0;
  let isClosed = false;

  const alive = (): Recogniser[] => pool.filter(({ isUp }) => isUp);
  const active = (): number => opening + pool.reduce((sum, { streams }) => sum + streams.size, 0);

  async function open({ model, signal }: OpenInput): Promise<EngineStream> {
    signal.throwIfAborted();
    if (isClosed || !MODEL_IDS.includes(model)) throw new EngineFailed();
    if (active() >= alive().length * slots) throw new EngineBusy();
    opening += 1;
    await new Promise((resolve) => setTimeout(resolve, random.between(...input.openMs)));
    opening -= 1;
    signal.throwIfAborted();
    if (isClosed) throw new EngineFailed();
    const [chosen] = alive().toSorted((a, b) => a.streams.size - b.streams.size);
    if (chosen === undefined || chosen.streams.size >= slots) throw new EngineBusy();
    const { name, streams } = chosen;
    const stream = new ModelStream({
      build: BUILD,
      recogniser: name,
      decodeMs: () => random.between(...input.decodeMs),
      isCrowded: () => alive().some((other) => other.streams.size + 1 < streams.size),
      onEnd: () => streams.delete(stream),
    });
    streams.add(stream);
    if (chosen.isHung) stream.hang();
    return stream;
  }

  function fail({ streams }: Recogniser, reason: EngineFailure): void {
    for (const stream of streams) stream.fail(reason);
  }

  return {
    describe: (id) => ({
      id,
      chunkSamples: CHUNK_SAMPLES,
      contextSize: CONTEXT_SIZE,
      build: BUILD,
      keyterms: true,
    }),
    open,
    health: () => ({
      ready: !isClosed && alive().length > 0,
      active: active(),
      capacity: alive().length * slots,
      lagMs: 0,
    }),
    async close() {
      isClosed = true;
      for (const recogniser of pool) fail(recogniser, 'engine_closed');
    },
    lose(at, how, backAfterMs) {
      // One that serves somebody, because the loss of another changes nothing.
      const busy = pool.filter(({ streams }) => streams.size > 0);
      const victims = busy.length > 0 ? busy : pool;
      const recogniser = victims[at % victims.length];
      if (recogniser === undefined || !recogniser.isUp) return;
      const die = (): void => {
        recogniser.isUp = false;
        fail(recogniser, how === 'dies' ? 'child_died' : 'child_stalled');
        recogniser.isHung = false;
        setTimeout(() => (recogniser.isUp = true), backAfterMs).unref();
      };
      if (how === 'dies') return die();
      recogniser.isHung = true;
      for (const stream of recogniser.streams) stream.hang();
      setTimeout(die, STALLED_MS).unref();
    },
  };
}
