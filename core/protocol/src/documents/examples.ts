import { MODEL_IDS } from '../constants.ts';
import { EXAMPLE_SESSION_ID } from './example-ids.ts';
import type { ServerEvent } from '../events.ts';
import type { ClientMessage } from '../messages.ts';
import { MODEL_LIST } from '../models.ts';
import { RECORDED_EVENTS, RECORDED_SESSIONS } from './recorded-examples.ts';
import type { AsrSession } from '../sessions.ts';
import type { CreditBalance } from '../usage.ts';

/** The examples of the published documents. Sessions and events are recorded from the running service. */

export const EXAMPLE_SESSION: AsrSession = RECORDED_SESSIONS.created;

export const EXAMPLE_MODEL_LISTS = { models: { summary: 'All models', value: MODEL_LIST } };

export const EXAMPLE_REQUESTS = {
  defaults: { summary: 'A minute of audio', value: { model: MODEL_IDS[0] } },
  longer: { summary: 'Two minutes', value: { model: MODEL_IDS[0], max_audio_seconds: 120 } },
};

export const EXAMPLE_SESSIONS = {
  created: { summary: 'A new session', value: RECORDED_SESSIONS.created },
  replayed: {
    summary: 'The same Idempotency-Key again: the same session, with Idempotent-Replayed: true',
    value: RECORDED_SESSIONS.replayed,
  },
  reduced: {
    summary: 'Only 42 s of credit were left of the 120 s requested',
    value: RECORDED_SESSIONS.reduced,
  },
};

const EXAMPLE_BALANCE: CreditBalance = {
  object: 'credit_balance',
  unit: 'audio_millisecond',
  available_ms: 3_480_000,
  reserved_ms: 120_000,
  consumed_ms: 42_000,
  recent_sessions: [
    {
      id: EXAMPLE_SESSION_ID,
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

export const EXAMPLE_BALANCES = {
  balance: { summary: 'A reserved and a completed session', value: EXAMPLE_BALANCE },
};

/** A message or an event, as AsyncAPI shows it. */
export interface WireExample<Payload> {
  readonly name: string;
  readonly summary: string;
  readonly payload: Payload;
}

export const EXAMPLE_MESSAGES: readonly WireExample<ClientMessage>[] = [
  { name: 'defaults', summary: 'Selects the defaults.', payload: { type: 'config' } },
  {
    name: 'endpointing',
    summary: 'Turns automatic finals on, with the default silence.',
    payload: { type: 'config', id: 'turns', endpointing: { silence_ms: 700 } },
  },
  {
    name: 'numbers',
    summary: 'Asks for numbers as digits.',
    payload: { type: 'config', numbers: true },
  },
  { name: 'flush', summary: 'Ends the utterance.', payload: { type: 'flush', id: 'turn-1' } },
  { name: 'reset', summary: 'Discards the utterance.', payload: { type: 'reset', id: 7 } },
];

const EVENT_SUMMARIES = {
  status_loading: 'The recogniser is starting.',
  status_limit_warning: 'The reserved audio is nearly used up.',
  status_suspicious_audio: 'The client sends a WAV file instead of PCM.',
  status_odd_byte_carried: 'A frame ended inside a sample.',
  status_draining: 'The server restarts in 25 s.',
  ready: 'The client may send audio.',
  config_ack: 'Endpointing is on. The unknown field `punctuate` was ignored.',
  reset_ack: '640 ms were discarded.',
  speech_started: 'Somebody starts to speak.',
  delta: 'The utterance so far. The last word may still change.',
  speech_ended: 'The speaker is silent.',
  final_endpoint: 'A final at a pause, with endpointing.',
  final_flush: 'The answer to a flush, with its id.',
  final_numbers: 'A final with an amount, after `numbers` was set.',
  final_max_audio_reached: 'The reserved audio is used up. The stream closes with 1000.',
  final_closing: 'The client sent a close frame before the final.',
  final_draining: 'The server restarts, so the session is free.',
  error_non_fatal: 'A refused message. The stream continues.',
  error_internal: 'The recogniser failed. The stream closes with 1011.',
  error_service_restart: 'The server restarts. The stream closes with 1012.',
  error_refused: 'A browser was refused because the server is full. It closes with 4503.',
  turn_eager: 'The turn may be over. Only with `eager_ms`.',
  turn_resumed: 'The speaker goes on.',
} as const satisfies Record<keyof typeof RECORDED_EVENTS, string>;

const SUMMARIES: ReadonlyMap<string, string> = new Map(Object.entries(EVENT_SUMMARIES));

export const EXAMPLE_EVENTS: readonly WireExample<ServerEvent>[] = Object.entries<ServerEvent>(
  RECORDED_EVENTS,
).map(([name, payload]) => ({ name, summary: SUMMARIES.get(name) ?? name, payload }));
