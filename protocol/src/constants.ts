/** Every name and number of the wire contract that is not a schema. Guesses live here and nowhere else. */

export const MODEL_IDS = ['svc-asr-kikuyu-v1', 'svc-asr-dholuo-v1'] as const;
export type ModelId = (typeof MODEL_IDS)[number];

export const SUBPROTOCOL = 'svc.realtime.v1';
export const CREDENTIAL_PREFIX = 'svc.auth.';
export const API_KEY_PREFIX = 'svc_live_v1_';
export const STREAM_PATH = '/v1/asr/stream';

export const AUDIO = {
  encoding: 'pcm_s16le',
  sampleRateHz: 16_000,
  channels: 1,
  bytesPerSample: 2,
} as const;

/** Attention context in 80 ms encoder frames, left then right. */
export const CONTEXT_SIZE = [56, 13] as const;
/** One chunk is the right context and the frame itself: 14 frames of 80 ms. */
export const CHUNK_SAMPLES = (CONTEXT_SIZE[1] + 1) * 0.08 * AUDIO.sampleRateHz;

export const LIMITS = {
  requestBodyBytes: 16 * 1024,
  audioSecondsMin: 1,
  audioSecondsMax: 300,
  audioSecondsDefault: 60,
  credentialLifetimeMs: 60_000,
  idempotencyKeyLength: 128,
  frameBytes: 65_536,
  textMessageBytes: 16 * 1024,
  recentSessions: 20,
  /** A stream may hold this much audio that the engine has not taken yet. */
  heldAudioBytes: 256 * 1024,
  nonFatalErrors: 10,
  flushesPerSecond: 5,
  textMessagesPerSecond: 20,
  idleTimeoutMs: 60_000,
  sessionWallClockMs: 15 * 60_000,
  initializationMs: 20_000,
  limitWarningMs: 10_000,
  pingIntervalMs: 20_000,
  connectionLostMs: 60_000,
} as const;

export const IDEMPOTENCY_KEY_PATTERN = '^[A-Za-z0-9._:-]{1,128}$';

/** What the catalogue tells about each model; `aliases` are the spellings that `config.language` accepts. */
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
  { language: string; languageCode: string; aliases: readonly string[] }
>;

export function isModelId(value: string): value is ModelId {
  return Object.hasOwn(MODELS, value);
}
