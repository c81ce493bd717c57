import { setTimeout as sleep } from 'node:timers/promises';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import {
  EngineBusy,
  type Engine,
  type EngineStream,
  type OpenInput,
  type Replay,
} from '../engine.ts';
import { ReplayMemory } from './replay-memory.ts';
import { ReplayStream, type ReplayFailure } from './replay-stream.ts';
import { ReplayLimiter } from './replay-limiter.ts';

export interface ReplayOptions {
  /** Un-finalised audio kept for each stream; a longer utterance cannot be replayed. */
  readonly secondsPerStream?: number;
  /** Memory for the audio of all streams. */
  readonly megabytes?: number;
  /** Concurrent replays per recogniser. */
  readonly atOnce?: number;
  /** How long a stream waits for another recogniser. */
  readonly slotWithinMs?: number;
}

interface ReplayCounts {
  readonly replayed: number;
  readonly failed: Readonly<Record<ReplayFailure, number>>;
  /** Memory that the kept audio takes now. */
  readonly bytes: number;
  /** Streams that wait for another recogniser now. */
  readonly waiting: number;
  /** Streams that lost their recogniser and have not caught up yet. */
  readonly recovering: number;
}

export interface ReplayEngine extends Engine {
  replays(): ReplayCounts;
}

const SECONDS_PER_STREAM = 60;
const MEGABYTES = 512;
const AT_ONCE = 8;
/** A crashed recogniser is replaced within about a second. */
const SLOT_WITHIN_MS = 10_000;
const RETRY_MS = 20;

/** Adds replay to an engine: a stream whose recogniser is lost continues on another one. */
export function withReplay(engine: Engine, options: ReplayOptions = {}): ReplayEngine {
  const memory = new ReplayMemory((options.megabytes ?? MEGABYTES) * 1_000_000);
  const limiter = new ReplayLimiter(options.atOnce ?? AT_ONCE);
  const slotWithinMs = options.slotWithinMs ?? SLOT_WITHIN_MS;
  const seconds = options.secondsPerStream ?? SECONDS_PER_STREAM;
  const waiting = new Set<ReplayStream>();
  const failed = { too_long: 0, no_slot: 0, too_many_losses: 0, different_text: 0 };
  const recovering = new Set<ReplayStream>();
  let replayed = 0;
  const closing = new AbortController();

  async function reopen(
    stream: ReplayStream,
    replay: Replay,
    input: OpenInput,
  ): Promise<EngineStream | null> {
    const deadlineMs = performance.now() + slotWithinMs;
    const { signal } = stream;
    waiting.add(stream);
    try {
      while (!signal.aborted && !closing.signal.aborted) {
        const inner = await openAnother(stream, replay, input);
        if (inner !== null) return inner;
        if (performance.now() > deadlineMs) return null;
        await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
      }
      return null;
    } finally {
      waiting.delete(stream);
    }
  }

  function openAnother(
    { signal }: ReplayStream,
    replay: Replay,
    { model, trace }: OpenInput,
  ): Promise<EngineStream | null> {
    return engine
      .open({ model, signal, replay, ...(trace === undefined ? {} : { trace }) })
      .catch(() => null);
  }

  async function open(input: OpenInput): Promise<EngineStream> {
    // Streams that lost their recogniser come first.
    const { active, capacity } = engine.health();
    if (waiting.size > 0 && active + waiting.size >= capacity) throw new EngineBusy();
    const inner = await engine.open(input);
    return new ReplayStream(inner, {
      memory,
      limiter,
      streamBytesMax: seconds * AUDIO.sampleRateHz * AUDIO.bytesPerSample,
      reopen: (stream, replay) => reopen(stream, replay, input),
      openAnother: (stream, replay) => openAnother(stream, replay, input),
      isClosed: () => closing.signal.aborted,
      onLost: (stream) => recovering.add(stream),
      onReplayed: (stream) => {
        replayed += 1;
        recovering.delete(stream);
      },
      onEnd: (stream) => recovering.delete(stream),
      onFailed: (why) => (failed[why] += 1),
    });
  }

  return {
    describe: (model) => engine.describe(model),
    open,
    health() {
      const health = engine.health();
      return { ...health, active: health.active + waiting.size };
    },
    async close() {
      closing.abort();
      await engine.close();
    },
    replays: () => ({
      replayed,
      failed: { ...failed },
      bytes: memory.bytes,
      waiting: waiting.size,
      recovering: recovering.size,
    }),
  };
}
