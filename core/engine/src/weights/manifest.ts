import type { ModelId } from '@svc-asr/protocol/constants.ts';
import type { Decoding } from '../ctc/decoding.ts';

/** The manifest of a model id: `<id>.json` in the models directory. Paths are absolute and their files were checked. */
export type ModelManifest = TransducerManifest | OfflineCtcManifest | ZipformerManifest;

interface ManifestFields {
  readonly id: ModelId;
  /** Name of the weights. */
  readonly build: string;
  /** The language prompt given to every stream of this model. */
  readonly language: string;
  readonly chunkSamples: number;
  readonly contextSize: readonly [number, number];
  /** The text normaliser used in training. */
  readonly normaliser: string;
  readonly licence: string;
  /** The hash of each of its files, by absolute path. */
  readonly sha256ByPath: ReadonlyMap<string, string>;
}

/** A cache-aware streaming transducer, decoded chunk by chunk. */
interface TransducerManifest extends ManifestFields {
  readonly kind: 'transducer';
  /** Silence before each utterance beyond what the first decode needs; `svc-models sweep` finds the best value. */
  readonly extraLeadInMs: number;
  /** Whether chunks of several streams may be decoded together: no stream's words then depend on another's audio. */
  readonly batchSafe: boolean;
  readonly files: Readonly<Record<TransducerFile, string>>;
}

/** An offline CTC model, streamed by stitching the posteriors of overlapping windows. */
interface OfflineCtcManifest extends ManifestFields {
  readonly kind: 'offline_ctc';
  /** How text is searched for; greedily without it. */
  readonly decoding?: Decoding;
  /** Chunks of audio per window: one or two. */
  readonly stepChunks: number;
  readonly files: Readonly<Record<OfflineCtcFile, string>>;
}

/** A streaming Zipformer transducer of icefall, decoded chunk by chunk with a beam. */
interface ZipformerManifest extends ManifestFields {
  readonly kind: 'zipformer_transducer';
  readonly decoding: Decoding;
  /** New mel frames of each chunk of the encoder. */
  readonly chunkFrames: number;
  readonly files: Readonly<Record<TransducerFile, string>>;
}

type TransducerFile = 'encoder' | 'decoder' | 'joiner' | 'tokens';
type OfflineCtcFile = 'model' | 'tokens';
