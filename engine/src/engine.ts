import type { ModelId } from '@svc-asr/protocol';

/** Speech in, text out. A port is small, closed, and states its promises. */
export interface Engine {
  /** What `ready.chunk_samples` and `audio.context_size` are made of. */
  describe(model: ModelId): EngineModel;
  /**
   * Takes a slot. Rejects with EngineBusy when none is free, with EngineFailed when the engine cannot start one,
   * and with the signal's reason when aborted; an aborted open leaves no slot behind.
   */
  open(input: { model: ModelId; signal: AbortSignal }): Promise<EngineStream>;
  health(): EngineHealth;
  /** Ends every stream with one error event and every child process. */
  close(): Promise<void>;
}

export interface EngineModel {
  readonly id: ModelId;
  readonly chunkSamples: number;
  readonly contextSize: readonly [number, number];
  /** Which weights these are. */
  readonly build: string;
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
  /**
   * Takes 16 kHz mono s16le; an odd byte count is a caller's mistake. The engine owns the bytes from here on.
   * Settles when the engine can take more. This is the only backpressure there is. Nearly always that is at once:
   * then it is the very promise TAKEN, and the caller need not wait a turn of the loop for each frame.
   */
  write(pcm: Uint8Array): Promise<void>;
  /** Asks for a final. It arrives in `events`, after every delta of the audio before it; one final per flush. */
  flush(): void;
  /** Drops what is unfinished; flushes asked for before it are still answered first. */
  reset(): void;
  /**
   * One ordered stream of what was recognised, for one reader. After `error` nothing follows; it ends after close.
   */
  readonly events: AsyncIterable<EngineEvent>;
  /** Gives the slot back. Idempotent; after it writes are ignored and no further event comes. */
  close(): Promise<void>;
}

export interface EngineWord {
  readonly text: string;
  /** Within the utterance. */
  readonly startMs: number;
  readonly endMs: number;
}

/**
 * `utterance` counts the flushes and resets asked for before this audio. A delta that was on its way when its
 * utterance was dropped can so be told from one that speaks of the next.
 */
export type EngineEvent =
  | {
      readonly type: 'delta';
      readonly utterance: number;
      /** The whole utterance so far. */
      readonly text: string;
      /** So many characters of text will not change any more. */
      readonly stableLength: number;
      readonly words: readonly EngineWord[];
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

export type EngineFailure = 'child_died' | 'child_stalled' | 'engine_closed' | 'queue_overflow';

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
