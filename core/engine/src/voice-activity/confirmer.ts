import type { VoiceVerdicts } from './confirmation.ts';

/** Confirms speech for the streams of a node. */
export interface VoiceConfirmer {
  /** Begins to listen at this sample of a stream. Owners share the detector equally. */
  open(input: { readonly startSample: number; readonly owner: string }): VoiceListener;
}

export interface VoiceListener {
  /**
   * Takes the next audio of the stream, 16 kHz mono s16le; a sample may span two calls. Resolves with the verdicts on the
   * hops that it completes, or with null if it was skipped. Never rejects. The bytes must not change until then.
   */
  listen(pcm: Uint8Array): Promise<VoiceVerdicts | null>;
  /** Gives up on all audio that waits. */
  skip(): void;
}
