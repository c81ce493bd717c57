import type { Compute } from '../compute.ts';
import type { OfflineCtcFiles } from '../ctc/ctc-model.ts';
import type { Decoding } from '../ctc/decoding.ts';
import type { WeightFiles } from './recogniser.ts';

/** The child's command-line argument: one entry per model. Open frames refer to them by index. */
export type ChildModel = TransducerModel | OfflineCtcModel;

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
  /** Weights with dynamic quantisation use one scale for a whole batch, so one caller would change another's words. */
  readonly batching: boolean;
}

export function presentChildConfig(models: readonly ChildModel[]): string {
  return JSON.stringify(models);
}

/** Parses the argument without validation, because our own parent process wrote it. */
export function parseChildConfig(text: string): ChildModel[] {
  const models: ChildModel[] = JSON.parse(text);
  return models;
}
