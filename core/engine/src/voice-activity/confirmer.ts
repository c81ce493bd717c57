import type { VoiceVerdicts } from './confirmation.ts';

/** Confirms speech for the streams of a node, outside of its event loop. */
export interface VoiceConfirmer {
  /** Begins to listen at this sample of a stream. */
  open(startSample: number): VoiceListener;
  counts(): ConfirmerCounts;
  close(): Promise<void>;
}

export interface VoiceListener {
  /**
   * Takes the next audio of the stream, 16 kHz mono s16le; a sample may span two calls. Resolves with the verdicts on the
   * hops that it completes, or with null if they are late or nobody listens. Never rejects.
   */
  listen(pcm: Uint8Array): Promise<VoiceVerdicts | null>;
  close(): void;
}

export interface ConfirmerCounts {
  /** Pieces of audio with verdicts, and those without: late, or while there was no child process. */
  readonly confirmed: number;
  readonly late: number;
  readonly absent: number;
  readonly restarts: number;
}
