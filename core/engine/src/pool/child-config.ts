import type { Compute } from '../compute.ts';
import type { OfflineCtcFiles } from '../recognisers/ctc-model.ts';
import type { Decoding } from '../ctc/decoding.ts';
import type { WeightFiles } from '../recognisers/sherpa-recogniser.ts';

/** The child's command-line argument: one entry per model. Open frames refer to them by index. */
export type ChildModel = TransducerModel | OfflineCtcModel | ZipformerChildModel;

interface ZipformerChildModel {
  readonly kind: 'zipformer_transducer';
  readonly language: string;
  readonly files: WeightFiles;
  readonly decoding: Decoding;
  readonly chunkFrames: number;
  readonly threads: number;
}

interface OfflineCtcModel {
  readonly kind: 'offline_ctc';
  readonly language: string;
  readonly files: OfflineCtcFiles;
  readonly decoding?: Decoding;
  readonly stepChunks: number;
  readonly compute: Compute;
}

interface TransducerModel {
  readonly kind: 'transducer';
  readonly language: string;
  readonly files: WeightFiles;
  readonly extraLeadInMs: number;
  readonly threads: number;
  readonly batchSafe: boolean;
}

export function presentChildConfig(models: readonly ChildModel[]): string {
  return JSON.stringify(models);
}

/** Parses the argument without validation, because our own parent process wrote it. */
export function parseChildConfig(text: string): ChildModel[] {
  const models: ChildModel[] = JSON.parse(text);
  return models;
}
