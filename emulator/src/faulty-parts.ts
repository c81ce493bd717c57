import { TAKEN, type Engine, type EngineStream, type StreamScript } from '@svc-asr/engine';
import { AUDIO } from '@svc-asr/protocol';
import type { Deps } from '@svc-asr/server/deps.ts';
import type { Pool } from '@svc-asr/server/db.ts';
import type { Ledger, ReserveResult } from '@svc-asr/server/ledger/ledger.ts';
import type { Fault, FaultName, Faults } from './faults.ts';
import { lapse } from './lapse.ts';

/**
 * The real parts with a fault in front of them. The answers are made by the server itself: a part only says what it
 * would say if the thing had happened.
 */

const RETRY_AFTER_MS = 1_000;
/** Longer than any stream waits. */
const NEVER_MS = 600_000;

const RESERVE_FAULTS = {
  'no-credit': { outcome: 'insufficient_credits' },
  'busy-account': {
    outcome: 'concurrency_limit_exceeded',
    blocker: 'active',
    retryAfterMs: RETRY_AFTER_MS,
  },
  unavailable: { outcome: 'no_capacity' },
} as const satisfies Partial<Record<FaultName, ReserveResult>>;

export function faultyLedger(ledger: Ledger, faults: Faults, owner: Pool): Ledger {
  return {
    ...ledger,
    reserve(input) {
      const fault = faults.strike('no-credit', 'busy-account', 'unavailable');
      return fault === null ? ledger.reserve(input) : Promise.resolve(RESERVE_FAULTS[fault.name]);
    },
    async claim(input) {
      if (faults.strike('expired-credential') !== null) await lapse(owner, input.sessionId);
      return ledger.claim(input);
    },
  };
}

export function faultyLimiters(limiters: Deps['limiters'], faults: Faults): Deps['limiters'] {
  const { sessions } = limiters;
  return {
    ...limiters,
    sessions: {
      ...sessions,
      take(key) {
        const verdict = sessions.take(key);
        if (faults.strike('rate-limit') === null) return verdict;
        return { ...verdict, allowed: false, resetSeconds: RETRY_AFTER_MS / 1000 };
      },
    },
  };
}

/** What the next stream's recogniser will do. */
export function faultyScript(texts: readonly string[], faults: Faults): StreamScript {
  const fault = faults.strike('engine-crash', 'engine-hang', 'slow-start', 'slow-engine');
  if (fault === null) return { texts };
  switch (fault.name) {
    case 'engine-crash':
      return { texts, crashAfterSamples: samplesOf(fault) };
    case 'engine-hang':
      return { texts, hangAfterSamples: samplesOf(fault) };
    case 'slow-start':
      return { texts, openMs: NEVER_MS };
    case 'slow-engine':
      return { texts, chunkMs: fault.ms };
  }
}

/** An engine whose streams meet what a script cannot: a restart, a network that goes away, a pause without an end. */
export function faultyEngine(
  engine: Engine,
  faults: Faults,
  onStrike: (fault: Fault) => void,
): Engine {
  return {
    describe: (model) => engine.describe(model),
    health: () => engine.health(),
    close: () => engine.close(),
    async open(input) {
      const stream = await engine.open(input);
      const fault = faults.strike('restart', 'connection-lost', 'engine-pause');
      if (fault === null) return stream;
      if (fault.name === 'engine-pause') return pausing(stream, samplesOf(fault), faults.cleared);
      return striking(stream, samplesOf(fault), () => onStrike(fault));
    },
  };
}

function striking(stream: EngineStream, afterSamples: number, strike: () => void): EngineStream {
  let left = afterSamples;
  return {
    ...unchanged(stream),
    write(pcm) {
      const before = left;
      left -= pcm.byteLength / AUDIO.bytesPerSample;
      if (before > 0 && left <= 0) queueMicrotask(strike);
      return stream.write(pcm);
    },
  };
}

/** What comes after the last sample that is taken waits, in its order, for the end of the pause. */
function pausing(
  stream: EngineStream,
  afterSamples: number,
  pauseOver: Promise<void>,
): EngineStream {
  let left = afterSamples;
  const inTurn = (): Promise<void> => (left > 0 ? TAKEN : pauseOver);
  return {
    ...unchanged(stream),
    async write(pcm) {
      const turn = inTurn();
      left -= pcm.byteLength / AUDIO.bytesPerSample;
      await turn;
      await stream.write(pcm);
    },
    flush: () => void inTurn().then(() => stream.flush()),
    reset: () => void inTurn().then(() => stream.reset()),
  };
}

function unchanged(stream: EngineStream): EngineStream {
  return {
    chunkSamples: stream.chunkSamples,
    events: stream.events,
    write: (pcm) => stream.write(pcm),
    flush: () => stream.flush(),
    reset: () => stream.reset(),
    close: () => stream.close(),
  };
}

function samplesOf(fault: Fault): number {
  return Math.max(1, (fault.ms * AUDIO.sampleRateHz) / 1000);
}
