import type { ModelId } from '@svc-asr/protocol';

/** A recording that the public page plays, with what the service answered. */
export interface Example {
  readonly model: ModelId;
  readonly audio: string;
  readonly durationMs: number;
  /** Loudness along the recording, 0 to 100. */
  readonly envelope: readonly number[];
  readonly words: readonly {
    readonly text: string;
    readonly startMs: number;
    readonly endMs: number;
  }[];
}
