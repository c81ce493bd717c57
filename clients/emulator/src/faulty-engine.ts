import { setTimeout as sleep } from 'node:timers/promises';
import {
  CallQueue,
  createScriptedEngine,
  TAKEN,
  type Engine,
  type EngineEvent,
  type EngineStream,
  type Peeked,
  type StreamScript,
} from '@svc-asr/engine/core.ts';
import { AUDIO, type ModelId } from '@svc-asr/protocol';
import type { Claim, Fault, Faults } from './faults.ts';

const STALLED_AFTER_MS = 2_000;
/** Longer than any stream waits. */
const NEVER_MS = 600_000;

const SCRIPT_FAULTS = ['engine-crash', 'engine-hang', 'slow-start', 'slow-engine'] as const;
const STREAM_FAULTS = ['restart', 'connection-lost', 'engine-pause', 'late-final'] as const;
type ScriptClaim = Claim<(typeof SCRIPT_FAULTS)[number]>;
type StreamClaim = Claim<(typeof STREAM_FAULTS)[number]>;

export interface FaultyEngineOptions {
  readonly faults: Faults;
  readonly script: (model: ModelId) => Pick<StreamScript, 'texts' | 'turns' | 'shortestMs'>;
  /** Whether the models take keyterms. */
  readonly keyterms: boolean;
  /** Restarts the server or breaks its connections. */
  readonly onStrike: (fault: Fault) => void;
  /** Whether the server is stopping: from then on it flushes the streams itself. */
  readonly isStopping: () => boolean;
}

/** Creates a scripted engine with the armed faults. A fault that a stream did not reach stays armed. */
export function createFaultyEngine(options: FaultyEngineOptions): Engine {
  const { faults } = options;
  // The scripted engine asks for its script synchronously while `open` is called.
  let script: StreamScript = { texts: [] };
  const engine = createScriptedEngine({
    script: () => script,
    stalledAfterMs: STALLED_AFTER_MS,
    keyterms: options.keyterms,
  });
  return {
    describe: (model) => engine.describe(model),
    health: () => engine.health(),
    close: () => engine.close(),
    async open(input) {
      const scripted = faults.claim(...SCRIPT_FAULTS);
      script = { ...options.script(input.model), ...faultOf(scripted?.fault) };
      if (scripted?.fault.name === 'slow-start') scripted.met();
      const opening = engine.open(input);
      const stream = await opening.catch((error: unknown) => {
        scripted?.release();
        throw error;
      });
      const watched = scripted === null ? stream : watching(stream, scripted);
      const claim = faults.claim(...STREAM_FAULTS);
      if (claim === null) return watched;
      switch (claim.fault.name) {
        case 'engine-pause':
          return pausing(watched, claim, faults.cleared);
        case 'late-final':
          return delayingFinals(watched, claim);
        case 'restart':
        case 'connection-lost':
          return striking(watched, claim, options);
      }
    },
  };
}

function faultOf(fault: ScriptClaim['fault'] | undefined): Partial<StreamScript> {
  switch (fault?.name) {
    case 'engine-crash':
      return { crashAfterSamples: samplesOf(fault) };
    case 'engine-hang':
      return { hangAfterSamples: samplesOf(fault) };
    case 'slow-start':
      return { openMs: NEVER_MS };
    case 'slow-engine':
      return { chunkMs: fault.ms };
    case undefined:
      return {};
  }
}

/** Reports when a stream reaches its scripted fault. */
function watching(stream: EngineStream, claim: ScriptClaim): EngineStream {
  let left = claim.fault.name === 'slow-engine' ? 1 : samplesOf(claim.fault);
  return wrapped(stream, claim, {
    write(pcm) {
      left -= samplesIn(pcm);
      if (left <= 0) claim.met();
      return stream.write(pcm);
    },
  });
}

/**
 * After the fault, all calls wait until the stopping server flushes the stream, so that it cannot end before. Only the
 * first write stays pending, which pauses the client: the server's flush would wait behind many pending writes.
 */
function striking(
  stream: EngineStream,
  claim: StreamClaim,
  { onStrike, isStopping }: FaultyEngineOptions,
): EngineStream {
  let left = samplesOf(claim.fault);
  const held = new CallQueue<HeldAudio>();
  let end: (() => void) | undefined;
  const ended = new Promise<void>((resolve) => (end = resolve));
  const strike = async (pcm: Uint8Array): Promise<void> => {
    claim.met();
    queueMicrotask(() => onStrike(claim.fault));
    await stream.write(pcm);
    await ended;
  };
  const releaseHeld = (): void =>
    held.advance((call) => {
      if (call.do === 'audio') void stream.write(call.audio.pcm);
      else if (call.do === 'expect') stream.expect(call.keyterms);
      else stream[call.do]();
      return true;
    });
  return wrapped(stream, claim, {
    write(pcm) {
      if (left <= 0) {
        holdAudio(held, pcm);
        return TAKEN;
      }
      left -= samplesIn(pcm);
      return left > 0 ? stream.write(pcm) : strike(pcm);
    },
    flush() {
      held.add({ do: 'flush' });
      if (left > 0 || isStopping()) releaseHeld();
    },
    reset() {
      held.add({ do: 'reset' });
      if (left > 0) releaseHeld();
    },
    expect(keyterms) {
      held.add({ do: 'expect', keyterms });
      if (left > 0) releaseHeld();
    },
    peek: () => (left > 0 ? peekOf(stream) : LATE),
    close() {
      end?.();
      return stream.close();
    },
  });
}

/** Holds each final back, and what follows it. */
function delayingFinals(stream: EngineStream, claim: StreamClaim): EngineStream {
  const closed = new AbortController();
  const { ms } = claim.fault;
  async function* events(): AsyncGenerator<EngineEvent> {
    for await (const event of stream.events) {
      if (event.type === 'final') {
        claim.met();
        await sleep(ms, undefined, { signal: closed.signal }).catch(() => {});
      }
      yield event;
    }
  }
  return wrapped(stream, claim, {
    events: events(),
    close() {
      closed.abort();
      return stream.close();
    },
  });
}

interface HeldAudio {
  pcm: Uint8Array;
}

/** Joins audio to the audio before it, because a recogniser takes a limited number of pending calls. */
function holdAudio(held: CallQueue<HeldAudio>, pcm: Uint8Array): void {
  const last = held.lastAudio;
  if (last === null) held.add({ do: 'audio', audio: { pcm: new Uint8Array(pcm) } });
  else last.pcm = Buffer.concat([last.pcm, pcm]);
}

/** After the given amount of audio, further audio, flushes and resets wait in order for the end of the pause. */
function pausing(stream: EngineStream, claim: StreamClaim, pauseOver: Promise<void>): EngineStream {
  let left = samplesOf(claim.fault);
  const inTurn = (): Promise<void> => (left > 0 ? TAKEN : pauseOver);
  return wrapped(stream, claim, {
    async write(pcm) {
      const turn = inTurn();
      left -= samplesIn(pcm);
      if (left <= 0) claim.met();
      await turn;
      await stream.write(pcm);
    },
    flush: () => void inTurn().then(() => stream.flush()),
    reset: () => void inTurn().then(() => stream.reset()),
    expect: (keyterms) => void inTurn().then(() => stream.expect(keyterms)),
    peek: () => (left > 0 ? peekOf(stream) : LATE),
  });
}

/** Returns the stream with some methods replaced. On close, a fault that was not reached is armed again. */
function wrapped(
  stream: EngineStream,
  claim: Claim,
  replaced: Partial<
    Pick<EngineStream, 'write' | 'flush' | 'reset' | 'expect' | 'peek' | 'close' | 'events'>
  >,
): EngineStream {
  const close = replaced.close ?? (() => stream.close());
  const createDetector = stream.createDetector?.bind(stream);
  return {
    ...(createDetector === undefined ? {} : { createDetector }),
    chunkSamples: stream.chunkSamples,
    events: replaced.events ?? stream.events,
    get build() {
      return stream.build;
    },
    get recogniser() {
      return stream.recogniser;
    },
    write: replaced.write ?? ((pcm) => stream.write(pcm)),
    flush: replaced.flush ?? (() => stream.flush()),
    reset: replaced.reset ?? (() => stream.reset()),
    expect: replaced.expect ?? ((keyterms) => stream.expect(keyterms)),
    peek: replaced.peek ?? (() => peekOf(stream)),
    close() {
      claim.release();
      return close();
    },
  };
}

/** The answer of a recogniser that is behind. */
const LATE = Promise.resolve(null);

function peekOf(stream: EngineStream): Promise<Peeked | null> {
  return stream.peek?.() ?? LATE;
}

function samplesIn(pcm: Uint8Array): number {
  return pcm.byteLength / AUDIO.bytesPerSample;
}

function samplesOf(fault: Fault): number {
  return Math.max(1, (fault.ms * AUDIO.sampleRateHz) / 1000);
}
