import type { AsrSession } from '@svc-asr/protocol';

export interface SessionRequest {
  /** Why a session is needed: the first one, after a failure, at a session limit, or after a long silence. */
  readonly why: 'first' | 'failover' | 'rollover' | 'resume';
  /** The same for all attempts to get this session. Pass it on: a retry after a lost response gets the same session. */
  readonly idempotencyKey: string;
  /** Aborted when the stream ends first. */
  readonly signal: AbortSignal;
}

export type GetSession = (request: SessionRequest) => Promise<AsrSession>;

export interface EndpointingOptions {
  /** How long the speaker must be silent, from 200 to 5000. Default 700. */
  readonly silenceMs?: number;
  /** No utterance is longer, from 5000 to 60000. Default 30000. */
  readonly maxUtteranceMs?: number;
  /** `confirmed`, the default, adds a second detector to `level`, which hears pauses in music and noise. */
  readonly detector?: 'level' | 'confirmed';
  /** Reports `turn_eager` after this much silence, from 160 to 100 less than `silenceMs`. Off by default. */
  readonly eagerMs?: number;
}

export interface StreamOptions {
  /** The first session. */
  readonly session?: AsrSession;
  /**
   * Returns a new session whenever the stream needs one. With it a stream survives service failures, session limits
   * and long silences. Without it the stream ends with its one session.
   */
  readonly getSession?: GetSession;
  /** Sent as `config.language`, to check that the session has the model you expect. */
  readonly language?: string;
  /** Makes the service end each utterance when the speaker pauses, and report when speech starts and ends. */
  readonly endpointing?: boolean | EndpointingOptions;
  /** Names and words to listen for, at most 100. The event `config_ack` says which are used. */
  readonly keyterms?: readonly string[];
  /** Numbers as digits: adds `text_formatted` to finals and `turn_eager`, and `entities` to finals. */
  readonly numbers?: boolean;
  /** Ends the stream at once. */
  readonly signal?: AbortSignal;
}

/** 16 kHz mono PCM, 16-bit little-endian. */
export type AudioChunk = Int16Array | Uint8Array | ArrayBuffer;

/** The fields of a `config` message. */
export interface Config {
  readonly id?: number;
  readonly language?: string | undefined;
  readonly endpointing?: object | undefined;
  readonly keyterms?: readonly string[] | undefined;
  readonly numbers?: true | undefined;
  /** Lost sessions whose audio is sent again. */
  readonly continues?: readonly string[];
}

/** Returns null for anything but PCM, such as Web Audio's Float32Array. JavaScript callers have no compiler. */
export function toBytes(chunk: AudioChunk): Uint8Array | null {
  if (chunk instanceof ArrayBuffer) return new Uint8Array(chunk);
  const isPcm = ArrayBuffer.isView(chunk) && /^(Int16|Uint8)Array$/.test(chunk[Symbol.toStringTag]);
  return isPcm ? new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength) : null;
}

/** The `config` message that the options ask for, or null when the service's defaults will do. JSON leaves undefined fields out. */
export function toConfig({
  language,
  endpointing = false,
  numbers = false,
}: Pick<StreamOptions, 'language' | 'endpointing' | 'numbers'>): Config | null {
  const asked = { language, numbers: numbers || undefined };
  if (endpointing === false) return language === undefined && !numbers ? null : asked;
  const { silenceMs, maxUtteranceMs, detector, eagerMs }: EndpointingOptions =
    endpointing === true ? {} : endpointing;
  return {
    ...asked,
    endpointing: {
      silence_ms: silenceMs,
      max_utterance_ms: maxUtteranceMs,
      eager_ms: eagerMs,
      detector,
    },
  };
}
