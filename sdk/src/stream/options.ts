import type { AsrSession } from '@svc-asr/protocol';

export interface SessionRequest {
  /** Why a session is needed: the first, after a failure, at the audio limit, or after a long silence. */
  readonly why: 'first' | 'failover' | 'rollover' | 'resume';
  /** Aborted when the stream ends first. */
  readonly signal: AbortSignal;
}

export type GetSession = (request: SessionRequest) => Promise<AsrSession>;

export interface StreamOptions {
  /** The session to begin with. */
  readonly session?: AsrSession;
  /**
   * Brings a fresh session whenever one is needed. With it a stream outlives failures of the service, the audio limit
   * and long silences; without it the stream ends with its one session.
   */
  readonly getSession?: GetSession;
  /** Sent as `config.language`: a check that the session's model is the one you mean. */
  readonly language?: string;
  /** Ends the stream at once. */
  readonly signal?: AbortSignal;
}

/** 16 kHz mono PCM, 16-bit little-endian. */
export type AudioChunk = Int16Array | Uint8Array | ArrayBuffer;

const PCM_VIEWS = new Set(['Int16Array', 'Uint8Array']);

/** Null for what is no PCM, such as Web Audio's Float32Array: no compiler warns callers in JavaScript. */
export function toBytes(chunk: AudioChunk): Uint8Array | null {
  if (!ArrayBuffer.isView(chunk)) {
    return chunk instanceof ArrayBuffer ? new Uint8Array(chunk) : null;
  }
  if (!PCM_VIEWS.has(chunk[Symbol.toStringTag])) return null;
  return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
}
