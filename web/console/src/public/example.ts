import type { ModelId } from '@svc-asr/protocol';

/** A recording on the public page, with the service's output. */
export interface Example {
  readonly model: ModelId;
  readonly audio: string;
  readonly durationMs: number;
  /** Loudness over time, 0 to 100. */
  readonly envelope: readonly number[];
  readonly words: readonly {
    readonly text: string;
    readonly startMs: number;
    readonly endMs: number;
  }[];
}
