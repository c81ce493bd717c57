/** Names and numbers of the wire contract. */

export const MODEL_IDS = ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1'] as const;
export type ModelId = (typeof MODEL_IDS)[number];

export const SUBPROTOCOL = 'svc.realtime.v1';
export const CREDENTIAL_PREFIX = 'svc.auth.';
export const API_KEY_PREFIX = 'svc_live_v1_';
export const STREAM_PATH = '/v1/asr/stream';

/** Constants of the SDK's stream. Bundlers drop unused constants, but not unused fields, and no computed values. */
export const SAMPLES_PER_MS = 16;
export const BYTES_PER_SAMPLE = 2;
export const BYTES_PER_SECOND = 32_000;
export const AUDIO_SECONDS_MAX = 300;
export const SESSION_WALL_CLOCK_MS = 900_000;

export const AUDIO = {
  encoding: 'pcm_s16le',
  sampleRateHz: 16_000,
  channels: 1,
  bytesPerSample: BYTES_PER_SAMPLE,
} as const;

/** Attention context in 80 ms encoder frames, left then right. */
export const CONTEXT_SIZE = [56, 13] as const;
/** A chunk is the current frame and its right context: 14 frames of 80 ms. */
export const CHUNK_SAMPLES: number = 17_920;

export const LIMITS = {
  requestBodyBytes: 16_384,
  audioSecondsMin: 1,
  audioSecondsMax: AUDIO_SECONDS_MAX,
  audioSecondsDefault: 60,
  credentialLifetimeMs: 60_000,
  idempotencyKeyLength: 128,
  frameBytes: 65_536,
  textMessageBytes: 16_384,
  recentSessions: 20,
  /** Audio that a stream may buffer before the engine takes it. */
  heldAudioBytes: 262_144,
  nonFatalErrors: 10,
  flushesPerSecond: 5,
  textMessagesPerSecond: 20,
  /** Text messages, pings, pongs and tiny audio frames that may come at once. */
  textMessagesBurst: 100,
  /** Audio frames below this size (2 ms) count as messages, because each costs more to read than its audio pays for. */
  tinyFrameBytes: 64,
  idleTimeoutMs: 60_000,
  sessionWallClockMs: SESSION_WALL_CLOCK_MS,
  initializationMs: 20_000,
  limitWarningMs: 10_000,
  pingIntervalMs: 20_000,
  connectionLostMs: 60_000,
} as const;

/**
 * How a stream that a browser opens is refused, by the HTTP status that other clients get. Browsers hide the response to
 * a refused upgrade, so the server accepts it, sends a fatal error event and closes with this code.
 */
export const REFUSAL_CLOSE_CODES: Readonly<Record<number, number>> = {
  400: 4400,
  401: 4401,
  403: 4403,
  429: 4429,
  503: 4503,
};

/** The values that `config.endpointing` accepts. Times are in milliseconds. */
export const ENDPOINTING = {
  silenceMs: { min: 200, max: 5_000, default: 700 },
  maxUtteranceMs: { min: 5_000, max: 60_000, default: 30_000 },
  /** At most this much less than the silence. */
  eagerMs: { min: 160, below: 100 },
  detectors: ['level', 'confirmed'],
  detector: 'confirmed',
} as const;

export const IDEMPOTENCY_KEY_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';

/** The model catalogue. `aliases` are the values that `config.language` accepts. */
export const MODELS = {
  'svc-asr-kikuyu-v1': {
    language: 'Kikuyu',
    languageCode: 'ki',
    aliases: ['ki', 'kik', 'ki-KE', 'kik-KE', 'Kikuyu'],
  },
  'svc-asr-dholuo-v1': {
    language: 'Dholuo',
    languageCode: 'luo',
    aliases: ['luo', 'luo-KE', 'luo-TZ', 'Dholuo'],
  },
} as const satisfies Record<
  ModelId,
  { language: string; languageCode: 'ki' | 'luo'; aliases: readonly string[] }
>;

export function isModelId(value: string): value is ModelId {
  return Object.hasOwn(MODELS, value);
}
