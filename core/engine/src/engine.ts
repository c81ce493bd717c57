import type { ModelId } from '@svc-asr/protocol/constants.ts';
import type { TraceParent } from '@svc-asr/runtime/tracing.ts';
import type { SpeechDetector } from './voice-activity/voice-activity.ts';

/** A speech recognition engine. Every implementation passes the tests in core/engine/test/conformance.ts. */
export interface Engine {
  /** Describes a model, for `ready.chunk_samples` and `audio.context_size`. */
  describe(model: ModelId): EngineModel;
  /**
   * Takes a slot. Rejects with EngineBusy when none is free, with EngineFailed when the engine cannot
   * start one, and with the signal's reason when aborted; an aborted open leaks no slot.
   */
  open(input: OpenInput): Promise<EngineStream>;
  health(): EngineHealth;
  /** Ends every stream with one error event and every child process. */
  close(): Promise<void>;
}

export interface OpenInput {
  readonly model: ModelId;
  readonly signal: AbortSignal;
  /** Set when the stream continues on another recogniser after its own was lost. */
  readonly replay?: Replay;
  /** The span that this stream is a part of, for recognisers on other machines. */
  readonly trace?: TraceParent;
}

export interface Replay {
  /**
   * The weights that must recognise the audio, or null for any. Rejects with EngineBusy if none of
   * their slots is free.
   */
  readonly build: string | null;
  /** This much of the audio was already sent to the lost recogniser, so it is overdue. */
  readonly bytes: number;
}

export interface EngineModel {
  readonly id: ModelId;
  readonly chunkSamples: number;
  readonly contextSize: readonly [number, number];
  /** Name of the weights. */
  readonly build: string;
  /** Whether streams can listen for keyterms. Without it they ignore them. */
  readonly keyterms: boolean;
  /** Whether streams can `peek`. */
  readonly canPeek?: boolean;
}

export interface EngineHealth {
  readonly ready: boolean;
  readonly active: number;
  readonly capacity: number;
  /** How long the oldest complete chunk has been waiting for its decode. */
  readonly lagMs: number;
}

export const TAKEN: Promise<void> = Promise.resolve();

export interface EngineStream {
  readonly chunkSamples: number;
  /** The weights that recognise the current utterance, or null before its recogniser is known. */
  readonly build: string | null;
  /** Names the recogniser. Streams with the same recogniser are lost together. */
  readonly recogniser: string;
  /** True if another recogniser of this engine serves clearly fewer streams. */
  readonly isCrowded?: boolean;
  /**
   * Accepts 16 kHz mono s16le. An odd number of bytes is rejected. The engine owns the bytes
   * afterwards. Resolves when the engine can accept more, which is the only backpressure. If it can at
   * once, returns the shared promise TAKEN, so that callers can skip a turn of the event loop.
   */
  write(pcm: Uint8Array): Promise<void>;
  /** Requests a final. It arrives in `events` after every delta of the audio before it. Each flush gets one final. */
  flush(): void;
  /** Drops the unfinished utterance. Earlier flushes still get their finals first. */
  reset(): void;
  /**
   * Listens for these terms, as `readKeyterms` returns them, in place of the earlier ones. A marker like flush: they apply
   * to the current utterance if it has no audio yet, and to those after it.
   */
  expect(keyterms: readonly string[]): void;
  /**
   * Resolves with the utterance so far, as a flush would give it, without ending it. It is decoded when nothing else waits.
   * Resolves with null if the utterance ends first, at the next `peek`, or if the weights can't.
   */
  peek?(): Promise<Peeked | null>;
  /**
   * The ordered events of the stream, for one reader. `error` is always the last event. Iteration ends after close.
   */
  readonly events: AsyncIterable<EngineEvent>;
  /**
   * Returns the detector for endpointing that starts at this sample of the stream. A scripted stream
   * provides its own detector; without it, the audio decides.
   */
  createDetector?(originSample: number): SpeechDetector;
  /** Releases the slot. Idempotent. Afterwards writes are ignored and no events follow. */
  close(): Promise<void>;
}

export interface EngineWord {
  readonly text: string;
  /** Within the utterance. */
  readonly startMs: number;
  readonly endMs: number;
  /** Confidence from 0 to 1, if the engine provides it. */
  readonly confidence?: number;
}

/** An utterance that goes on. */
export interface Peeked {
  readonly text: string;
  readonly words: readonly EngineWord[];
}

/**
 * `utterance` counts the flushes and resets before this audio. It tells a late delta of a dropped utterance from a delta
 * of the next one.
 */
export type EngineEvent =
  | {
      readonly type: 'delta';
      readonly utterance: number;
      /** The whole utterance so far. */
      readonly text: string;
      /** Number of characters of the text that will not change. */
      readonly stableLength: number;
      /** How many samples of this utterance the text covers. */
      readonly samples: number;
    }
  | {
      readonly type: 'final';
      readonly utterance: number;
      readonly text: string;
      readonly words: readonly EngineWord[];
      readonly samples: number;
    }
  | { readonly type: 'error'; readonly reason: EngineFailure };

export type EngineFailure =
  | 'child_died'
  | 'child_stalled'
  | 'engine_closed'
  | 'queue_overflow'
  /** A server ended the call because the client sent too little for too long. */
  | 'deadline_exceeded';

export class EngineBusy extends Error {
  constructor() {
    super('No engine slot is free.');
    this.name = 'EngineBusy';
  }
}

export class EngineFailed extends Error {
  constructor(options?: { cause: unknown }) {
    super('The engine could not start a stream.', options);
    this.name = 'EngineFailed';
  }
}
