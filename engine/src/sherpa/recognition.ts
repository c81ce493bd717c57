import type { Transcript } from './transcript.ts';

/** Weights in memory, as the scheduler sees them. */
export interface Recognition {
  /** How many utterances one decode may take together. */
  readonly batchMax: number;
  /** How many live streams one core serves, where that was measured while loading. */
  readonly liveStreams?: number;
  /** Silence before each utterance that makes a decode cover so much less of the caller's audio. */
  readonly extraLeadInSamples: number;
  /** Native streams made so far; they are freed when V8 collects their handles. */
  readonly streamsMade: number;
  begin(language: string): RecognisedUtterance;
  /** Every utterance must be ready. Returns a promise where the weights don't decode in the same turn. */
  decode(utterances: readonly RecognisedUtterance[]): Promise<void> | undefined;
}

/** One utterance being decoded. */
export interface RecognisedUtterance {
  readonly recognition: Recognition;
  /** How much of the caller's audio it has. */
  readonly samples: number;
  /** There is a decode to do. */
  readonly ready: boolean;
  accept(samples: Float32Array): void;
  /** No more audio: what is left becomes ready. */
  finish(): void;
  transcript(): Transcript;
}
