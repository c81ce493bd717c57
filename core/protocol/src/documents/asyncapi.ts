import type { TSchema } from 'typebox';
import {
  AUDIO,
  CREDENTIAL_PREFIX,
  LIMITS,
  REFUSAL_CLOSE_CODES,
  STREAM_PATH,
  SUBPROTOCOL,
} from '../constants.ts';
import * as events from '../events.ts';
import { EXAMPLE_EVENTS, EXAMPLE_MESSAGES } from './examples.ts';
import { ConfigMessage, Endpointing, FlushMessage, ResetMessage } from '../messages.ts';
import { INTERFACE_VERSION } from './openapi.ts';
import { publishSchemas, titleOf } from './published-schema.ts';

const ACCEPTED = {
  config: { schema: ConfigMessage, summary: 'Sets options. Optional.' },
  flush: { schema: FlushMessage, summary: 'Requests a final for the audio so far.' },
  reset: {
    schema: ResetMessage,
    summary: 'Discards the unfinished utterance and starts a new one.',
  },
} as const;

const SENT = {
  status: { schema: events.StatusEvent, summary: 'Progress, warnings and hints.' },
  ready: { schema: events.ReadyEvent, summary: 'The client may send audio.' },
  config_ack: { schema: events.ConfigAckEvent, summary: 'Confirms config.' },
  reset_ack: { schema: events.ResetAckEvent, summary: 'Confirms reset.' },
  delta: { schema: events.DeltaEvent, summary: 'The utterance so far: replace, never append.' },
  final: { schema: events.FinalEvent, summary: 'The finished utterance. Exactly one per flush.' },
  speech_started: {
    schema: events.SpeechStartedEvent,
    summary: 'Somebody starts to speak. Only with endpointing.',
  },
  speech_ended: {
    schema: events.SpeechEndedEvent,
    summary: 'The speaker is silent. Only with endpointing.',
  },
  turn_eager: {
    schema: events.TurnEagerEvent,
    summary: 'The turn may be over. Only with `eager_ms`.',
  },
  turn_resumed: { schema: events.TurnResumedEvent, summary: 'The turn goes on after all.' },
  error: { schema: events.ErrorEvent, summary: 'An error, and whether it ends the stream.' },
} as const;

export function asyncApiDocument() {
  const received = ['audio', ...Object.keys(ACCEPTED)];
  const sent = Object.keys(SENT);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'svc-asr streaming',
      version: INTERFACE_VERSION,
      license: { name: 'Apache-2.0' },
      description: DESCRIPTION,
    },
    defaultContentType: 'application/json',
    servers: {
      node: {
        host: '{host}',
        protocol: 'wss',
        description: 'From `websocket_url` in the session response.',
        variables: { host: { description: 'The node of the session.' } },
        security: [{ $ref: '#/components/securitySchemes/sessionCredential' }],
      },
    },
    channels: {
      stream: {
        address: STREAM_PATH,
        summary: 'One session: audio in, transcripts out.',
        description:
          'The path of `websocket_url`. The host is that of the node that serves the session.',
        messages: Object.fromEntries(
          [...received, ...sent].map((name) => [name, messageRef(name)]),
        ),
        bindings: { ws: { method: 'GET', headers: UPGRADE_HEADERS, bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      receiveFromClient: operation('receive', 'Messages from the client.', received),
      sendToClient: operation('send', 'Events from the server.', sent),
    },
    components: {
      securitySchemes: {
        sessionCredential: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Sec-WebSocket-Protocol',
          description: `The second of \`websocket_protocols\`: \`${CREDENTIAL_PREFIX}...\`. Single-use secret.`,
        },
      },
      messages: { audio: AUDIO_MESSAGE, ...jsonMessages(ACCEPTED), ...jsonMessages(SENT) },
      schemas: publishSchemas({
        accepted: [Endpointing, ...Object.values(ACCEPTED).map(({ schema }) => schema)],
        sent: [
          events.Word,
          events.EndpointingInForce,
          ...Object.values(SENT).map(({ schema }) => schema),
        ],
      }),
    },
  };
}

const DESCRIPTION = `Open \`websocket_url\` and offer both values of \`websocket_protocols\`. The server selects \`${SUBPROTOCOL}\`. Send
audio after \`ready\` arrives. Ignore unknown event types, fields and codes.

## Order

- Only \`status\` events come before \`ready\`, and \`ready\` comes once. Audio before it is dropped, and one \`audio_before_ready\`
  reports it. Messages before it are answered after it.
- Audio, \`config\`, \`flush\` and \`reset\` take effect in the order in which you send them.
- Each \`flush\` gets exactly one \`final\`, in order, after every \`delta\` of its audio. Answers to later messages wait for it.
- A \`delta\` replaces the one before it. No \`delta\` of an utterance follows its \`final\` or its \`reset_ack\`.
- With endpointing, \`speech_started\` and \`speech_ended\` come in pairs. The \`final\` of the turn follows \`speech_ended\`, unless
  nothing was recognised.
- \`status\` events come at any time. Nothing follows a fatal \`error\` but the close.
- Every charged sample has its \`final\` before the close, unless a \`reset\` discarded it.

## Closes

Every abnormal close follows an \`error\` event with \`fatal: true\`, and its close reason is the error's code:

| close | reason | retry |
|---|---|---|
| 1000 | completed, max_audio_reached | |
${closeRows()}

## Refused streams

A refused upgrade gets an HTTP error (see \`openStream\` in [openapi.json](/openapi.json)). Browsers hide that response. When a
request carries \`Origin\` and offers both subprotocols, a refusal arrives after the 101 instead: a fatal \`error\` event, then a close
whose code is the HTTP status with a 4 in front (${Object.values(REFUSAL_CLOSE_CODES).join(', ')}) and whose reason is the error's
code. Nothing is charged and the credential is not spent. Retry 4429 and 4503 after \`retry_after_ms\`.`;

const UPGRADE_HEADERS = {
  type: 'object',
  required: ['Sec-WebSocket-Protocol'],
  properties: {
    'Sec-WebSocket-Protocol': {
      type: 'string',
      description: `Both websocket_protocols values: ${SUBPROTOCOL}, ${CREDENTIAL_PREFIX}...`,
    },
  },
} as const;

const AUDIO_MESSAGE = {
  name: 'audio',
  title: 'Audio',
  summary: `Binary frames of mono ${AUDIO.sampleRateHz} Hz ${AUDIO.encoding}, each at most ${LIMITS.frameBytes} bytes.`,
  contentType: 'application/octet-stream',
  payload: {
    type: 'string',
    format: 'binary',
    maxLength: LIMITS.frameBytes,
    description:
      'Samples without a header. Frames form one byte stream, so a sample may span two frames. 100 to 200 ms per frame ' +
      'works best.',
  },
} as const;

function operation(action: 'send' | 'receive', summary: string, names: readonly string[]) {
  return {
    action,
    summary,
    channel: { $ref: '#/channels/stream' },
    messages: names.map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
  };
}

function messageRef(name: string) {
  return { $ref: `#/components/messages/${name}` };
}

function jsonMessages(table: Readonly<Record<string, { schema: TSchema; summary: string }>>) {
  const examples = [...EXAMPLE_MESSAGES, ...EXAMPLE_EVENTS];
  return Object.fromEntries(
    Object.entries(table).map(([name, { schema, summary }]) => [
      name,
      {
        name,
        title: titleOf(schema),
        summary,
        contentType: 'application/json',
        payload: { $ref: `#/components/schemas/${titleOf(schema)}` },
        examples: examples.filter(({ payload }) => payload.type === name),
      },
    ]),
  );
}

function closeRows(): string {
  const rows: string[] = [];
  for (const [reason, error] of Object.entries(events.STREAM_ERRORS)) {
    if (!('close' in error)) continue;
    const retry = 'retryable' in error ? 'new session' : 'no';
    rows.push(`| ${error.close} | ${reason} | ${retry} |`);
  }
  return rows.join('\n');
}
