import { AUDIO, CHUNK_SAMPLES, LIMITS, MODEL_IDS, SUBPROTOCOL } from './constants.ts';
import type { ServerEvent } from './events.ts';
import type { ClientMessage } from './messages.ts';
import { MODEL_LIST } from './models.ts';
import type { AsrSession, CreateSessionRequest } from './sessions.ts';
import type { CreditBalance } from './usage.ts';

/** One example of each message, validated by a test. The credential is not real. */

const SESSION_ID = '0b9f3c1e-5d0a-4c55-9a3e-7f2f8d0c6a11';
export const EXAMPLE_REQUEST_ID = '6f0d9c8b-2f44-4be1-8c8f-0f6a0e6a7a20';

const format = {
  encoding: AUDIO.encoding,
  sample_rate_hz: AUDIO.sampleRateHz,
  channels: AUDIO.channels,
} as const;

export const EXAMPLE_MODEL_LIST = MODEL_LIST;

export const EXAMPLE_CREATE_SESSION: CreateSessionRequest = {
  model: MODEL_IDS[0],
  max_audio_seconds: 120,
};

export const EXAMPLE_SESSION: AsrSession = {
  id: SESSION_ID,
  object: 'asr.session',
  status: 'reserved',
  model: MODEL_IDS[0],
  websocket_url: 'wss://node-1.example.com/v1/asr/stream',
  websocket_protocols: [SUBPROTOCOL, 'svc.auth.example-of-a-credential'],
  expires_at: '2026-11-15T09:31:00.000Z',
  audio: { ...format, max_audio_seconds: 120, context_size: [56, 13] },
  credits: { unit: 'audio_second', reserved: 120, remaining: 3_480 },
};

export const EXAMPLE_BALANCE: CreditBalance = {
  object: 'credit_balance',
  unit: 'audio_millisecond',
  available_ms: 3_480_000,
  reserved_ms: 120_000,
  consumed_ms: 42_000,
  recent_sessions: [
    {
      id: SESSION_ID,
      model: MODEL_IDS[0],
      status: 'reserved',
      audio_ms: 0,
      billable_ms: 0,
      created_at: '2026-11-15T09:30:00.000Z',
      completed_at: null,
    },
    {
      id: '4b7c2a90-18d4-4c27-b0fb-3b1a6f9f5d02',
      model: MODEL_IDS[1],
      status: 'completed',
      audio_ms: 41_280,
      billable_ms: 42_000,
      created_at: '2026-11-15T09:12:07.000Z',
      completed_at: '2026-11-15T09:12:51.000Z',
    },
  ],
};

export const EXAMPLE_MESSAGES: readonly ClientMessage[] = [
  { type: 'config', language: 'ki', endpointing: { silence_ms: 700 } },
  { type: 'flush', id: 'turn-1' },
  { type: 'reset' },
];

export const EXAMPLE_EVENTS: readonly ServerEvent[] = [
  { type: 'status', code: 'loading', message: 'The recogniser is starting.' },
  {
    type: 'ready',
    chunk_samples: CHUNK_SAMPLES,
    session_id: SESSION_ID,
    model: MODEL_IDS[0],
    language_code: 'ki',
    ...format,
    context_size: [56, 13],
    max_audio_ms: 120_000,
    max_frame_bytes: LIMITS.frameBytes,
    idle_timeout_ms: LIMITS.idleTimeoutMs,
    session_time_limit_ms: LIMITS.sessionWallClockMs,
  },
  {
    type: 'config_ack',
    language: 'ki',
    context: [56, 13],
    endpointing: { silence_ms: 700, max_utterance_ms: 30_000 },
    effective: 'now',
    ignored: [],
  },
  { type: 'reset_ack', utterance: 1, discarded_ms: 640, total_audio_ms: 4_480 },
  { type: 'speech_started', utterance: 0, audio_ms: 220 },
  { type: 'speech_ended', utterance: 0, audio_ms: 1_640 },
  { type: 'delta', text: 'mũndũ mũ', utterance: 0, stable_chars: 6, audio_ms: 1_120 },
  {
    type: 'final',
    text: 'mũndũ mũgo',
    utterance: 0,
    reason: 'flush',
    id: 'turn-1',
    start_ms: 0,
    end_ms: 1_900,
    confidence: 0.915,
    words: [
      { text: 'mũndũ', start_ms: 240, end_ms: 800, confidence: 0.97 },
      { text: 'mũgo', start_ms: 960, end_ms: 1_600, confidence: 0.86 },
    ],
    audio_ms: 1_900,
    total_audio_ms: 1_900,
    billable_ms: 2_000,
  },
  {
    type: 'error',
    message: 'The recogniser failed. Nothing is charged. Create a new session now.',
    code: 'internal_error',
    fatal: true,
    retryable: true,
    close_code: 1011,
    session_id: SESSION_ID,
    request_id: EXAMPLE_REQUEST_ID,
  },
];
