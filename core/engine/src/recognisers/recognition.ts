import type { KeytermTree } from '../keyterms/keyterm-tree.ts';
import type { Transcript } from '../transcript.ts';

/** Loaded weights, as the scheduler sees them. */
export interface Recognition {
  /** Maximum number of utterances per decode. */
  readonly batchMax: number;
  /** How many live streams a process serves, measured while loading. */
  readonly liveStreams: number;
  /** Silence before each utterance. A decode covers this much less of the caller's audio. */
  readonly extraLeadInSamples: number;
  /** Native streams made so far; they are freed when V8 collects their handles. */
  readonly streamsMade: number;
  /** Weights that cannot listen for keyterms ignore them. */
  begin(language: string, keyterms?: KeytermTree): RecognisedUtterance;
  /** Every utterance must be ready. Returns a promise where the weights don't decode in the same turn. */
  decode(utterances: readonly RecognisedUtterance[]): Promise<void> | undefined;
}

/** One utterance being decoded. */
export interface RecognisedUtterance {
  readonly recognition: Recognition;
  /** How much of the caller's audio it has. */
  readonly samples: number;
  /** Whether there is something to decode. */
  readonly ready: boolean;
  accept(samples: Float32Array): void;
  /** Ends the audio. The rest becomes ready. */
  finish(): void;
  transcript(): Transcript;
  /** The text as if the audio ended here. Absent where the weights can't tell without a second decoder. */
  peek?(): Promise<Transcript>;
}
