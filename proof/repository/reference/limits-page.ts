import { AUDIO, ENDPOINTING, LIMITS } from '@svc-asr/protocol';
import { CONSOLE_LIMITS } from '@svc-asr/protocol/console/constants.ts';
import { RELAY_LIMITS } from '../../../clients/sdk/src/relay-limits.ts';
import {
  FINISH_MS_MAX,
  GET_SESSION_MS_MAX,
  QUEUE_BYTES_MAX,
  UNSENT_BYTES_MAX,
} from '../../../clients/sdk/src/stream/limits.ts';
import { generateSecrets, parseConfig, type Config } from '../../../core/server/src/config.ts';
import { FLUSH_SAMPLES_MIN } from '../../../core/server/src/gateway/rules/final-event.ts';
import { CONNECTION_LIMITS } from '../../../core/server/src/gateway/gateway.ts';
import { FLUSHES_PENDING_MAX } from '../../../core/server/src/gateway/rules/stream-messages.ts';
import { PATIENCE, TARGET_LENGTH_MAX } from '../../../core/server/src/http/app.ts';

type Row = readonly [limit: string, value: string, above: string];

/** Returns docs/concepts/limits.md: every limit, from the constants that enforce it. */
export function limitsPage(): string {
  const { rates, connectionsPerAddress } = defaultConfig().limits;
  return [
    ...INTRODUCTION,
    ...table('Sessions and credit', sessionRows()),
    ...table('Requests', requestRows(rates, connectionsPerAddress)),
    'Each process counts on its own unless the operator sets `REDIS_URL`. All rates can be changed by the operator: see',
    '[Configuration](../configuration.md).',
    '',
    ...table('Streams', streamRows()),
    ...table('Messages on a stream', messageRows()),
    ...table('Endpointing', endpointingRows()),
    ...table('SDKs', sdkRows()),
    ...table('Console', consoleRows()),
  ].join('\n');
}

const INTRODUCTION = [
  '# Limits',
  '',
  'What to do about an error is in [Errors](../errors.md). `npm run docs` writes this page from the constants in the code.',
  '',
];

function table(title: string, rows: readonly Row[]): string[] {
  return [
    `## ${title}`,
    '',
    '| limit | value | above it |',
    '|---|---|---|',
    ...rows.map((row) => `| ${row.join(' | ')} |`),
    '',
  ];
}

function sessionRows(): Row[] {
  const { audioSecondsMin, audioSecondsMax, audioSecondsDefault } = LIMITS;
  return [
    [
      'audio per session',
      `${audioSecondsMin} to ${audioSecondsMax} s, default ${audioSecondsDefault} s`,
      '400; at the reserved limit a final, then close 1000 `max_audio_reached`',
    ],
    [
      'time per session',
      seconds(LIMITS.sessionWallClockMs),
      'final, then close 4408 `session_time_limit`',
    ],
    [
      'sessions at once per account',
      '1 by default; the operator sets it',
      '429 `concurrency_limit_exceeded`',
    ],
    [
      'time to open the stream',
      `${seconds(LIMITS.credentialLifetimeMs)} after creation, once`,
      '401 `session_credential_expired`',
    ],
    ['credit', `at least ${audioSecondsMin} s`, '402 `insufficient_credits`'],
    ['charge', 'whole seconds, rounded up once per session', ''],
    [
      'recent sessions in `GET /v1/usage`',
      String(LIMITS.recentSessions),
      'older ones are left out',
    ],
  ];
}

function requestRows(rates: Config['limits']['rates'], connectionsPerAddress: number): Row[] {
  return [
    ['`POST /v1/asr/sessions` per account', rate(rates.sessions), RATE_REFUSAL],
    ['`GET /v1/usage` per account', rate(rates.usage), RATE_REFUSAL],
    ['`GET /v1/models` per address', rate(rates.models), RATE_REFUSAL],
    ['wrong keys per address', rate(rates.failedAuthentication), RATE_REFUSAL],
    ['refused upgrades per address', rate(rates.failedUpgrades), RATE_REFUSAL],
    ['HTTP connections per address, streams excluded', number(connectionsPerAddress), 'closed'],
    ['body', bytes(LIMITS.requestBodyBytes), '413 `request_too_large`'],
    [
      'headers, and of these the path with its query',
      `${bytes(PATIENCE.maxHeaderSize)}, ${number(TARGET_LENGTH_MAX)} characters`,
      '431 `request_headers_too_large`',
    ],
    [
      'time for the headers, and for the whole request',
      `${seconds(PATIENCE.headersTimeout)}, ${seconds(PATIENCE.requestTimeout)}`,
      '408 `request_timeout`',
    ],
    [
      '`Idempotency-Key`',
      `1 to ${LIMITS.idempotencyKeyLength} characters; replays until the session expires`,
      '400 `invalid_idempotency_key`',
    ],
  ];
}

const RATE_REFUSAL = '429 `request_rate_exceeded`';

function streamRows(): Row[] {
  return [
    [
      'audio',
      `${number(AUDIO.sampleRateHz)} Hz, mono, 16-bit little-endian PCM`,
      '`suspicious_audio`, if it is recognised',
    ],
    ['time until `ready`', seconds(LIMITS.initializationMs), 'close 1013 `initialization_timeout`'],
    ['time without audio', seconds(LIMITS.idleTimeoutMs), 'final, then close 4408 `idle_timeout`'],
    [
      'time without any data',
      `${seconds(LIMITS.connectionLostMs)}; the server pings every ${seconds(LIMITS.pingIntervalMs)}`,
      'the connection counts as lost',
    ],
    [
      'warning before the audio or time limit',
      `${seconds(LIMITS.limitWarningMs)} before`,
      '`status` with `limit_warning`',
    ],
    [
      'unread events',
      `${bytes(CONNECTION_LIMITS.unreadBytes)}, or ${seconds(CONNECTION_LIMITS.unreadMs)}`,
      'close 1008 `slow_reader`',
    ],
    [
      'errors that the stream survives',
      String(LIMITS.nonFatalErrors),
      'close 1008 `too_many_errors`',
    ],
  ];
}

function messageRows(): Row[] {
  return [
    ['binary frame', bytes(LIMITS.frameBytes), 'close 1009 `message_too_large`'],
    ['text message', bytes(LIMITS.textMessageBytes), 'close 1009 `message_too_large`'],
    [
      `text messages, pings, pongs, and frames under ${LIMITS.tinyFrameBytes} bytes`,
      `${LIMITS.textMessagesPerSecond} a second, ${LIMITS.textMessagesBurst} at once`,
      'close 1008 `too_many_messages` or `too_many_errors`',
    ],
    [
      'flushes',
      `${LIMITS.flushesPerSecond} a second of time or of audio, ${FLUSHES_PENDING_MAX} unanswered`,
      'error `flush_throttled`; the stream continues',
    ],
    [
      'audio of an utterance that is decoded',
      `at least ${(FLUSH_SAMPLES_MIN * 1000) / AUDIO.sampleRateHz} ms`,
      'below it, the final is empty',
    ],
    ['`id` of a message', 'a number, or 128 characters', 'error `invalid_message`'],
  ];
}

function endpointingRows(): Row[] {
  return Object.entries({
    silence_ms: ENDPOINTING.silenceMs,
    max_utterance_ms: ENDPOINTING.maxUtteranceMs,
  }).map(([name, { min, max, default: fallback }]) => [
    `\`${name}\``,
    `${number(min)} to ${number(max)} ms, default ${number(fallback)} ms`,
    'error `invalid_endpointing`; nothing changes',
  ]);
}

function sdkRows(): Row[] {
  return [
    ['unsent audio before `write()` waits', seconds(audioMs(UNSENT_BYTES_MAX)), '`write()` waits'],
    ['unsent audio without waiting', seconds(audioMs(QUEUE_BYTES_MAX)), '`queue_full`'],
    [
      '`finish()` without an answer',
      seconds(FINISH_MS_MAX),
      'a new session; without `getSession`, `finish_timeout`',
    ],
    ['`getSession`', seconds(GET_SESSION_MS_MAX), '`get_session_timeout`'],
    [
      '`relay` input',
      `${bytes(RELAY_LIMITS.bytes)}, ${seconds(RELAY_LIMITS.durationMs)} of audio`,
      '`audio_too_large`, `audio_too_long`',
    ],
  ];
}

function consoleRows(): Row[] {
  return [
    [
      'live API keys per account, each with one successor',
      `${CONSOLE_LIMITS.liveKeys} by default; the operator sets it`,
      'revoke one first',
    ],
    ['lifetime of a key', `${CONSOLE_LIMITS.keyExpiryDaysMax} days, or no end`, 'refused'],
    ['members per account', String(CONSOLE_LIMITS.members), 'refused'],
    ['allowed origins per account', String(CONSOLE_LIMITS.allowedOrigins), 'refused'],
    ['passkeys per person', String(CONSOLE_LIMITS.passkeys), 'refused'],
    [
      'sign-in code',
      `${CONSOLE_LIMITS.codeDigits} digits, ${seconds(CONSOLE_LIMITS.codeLifetimeMs)}, ${CONSOLE_LIMITS.codeTries} tries`,
      'request a new one',
    ],
  ];
}

/** The configuration of an operator who sets only what is required. */
export function defaultConfig(): Config {
  return parseConfig({
    ...generateSecrets(),
    DATABASE_URL: 'postgresql://localhost/svc',
    PUBLIC_STREAM_URL: 'wss://localhost/v1/asr/stream',
  });
}

function rate({ perMinute, burst }: { perMinute: number; burst: number }): string {
  return `${perMinute} a minute, ${burst} at once`;
}

function audioMs(byteCount: number): number {
  return (byteCount * 1000) / (AUDIO.sampleRateHz * AUDIO.bytesPerSample);
}

function seconds(ms: number): string {
  return ms >= 120_000 ? `${ms / 60_000} minutes` : `${ms / 1000} s`;
}

function bytes(count: number): string {
  if (count >= 1024 * 1024) return `${count / 1024 / 1024} MiB`;
  return count === LIMITS.frameBytes ? `${number(count)} bytes` : `${count / 1024} KiB`;
}

function number(value: number): string {
  return value.toLocaleString('en-GB');
}
