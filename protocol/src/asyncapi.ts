import type { TSchema } from 'typebox';
import { AUDIO, CREDENTIAL_PREFIX, LIMITS, STREAM_PATH, SUBPROTOCOL } from './constants.ts';
import * as events from './events.ts';
import { EXAMPLE_EVENTS, EXAMPLE_MESSAGES } from './examples.ts';
import { ConfigMessage, FlushMessage, ResetMessage } from './messages.ts';
import { INTERFACE_VERSION } from './openapi.ts';
import { publishSchemas, titleOf } from './published-schema.ts';

const ACCEPTED = {
  config: { schema: ConfigMessage, summary: 'Chooses options; sending none is legal.' },
  flush: { schema: FlushMessage, summary: 'Asks for a final of what was sent so far.' },
  reset: { schema: ResetMessage, summary: 'Drops the unfinished utterance and begins a new one.' },
} as const;

const SENT = {
  status: { schema: events.StatusEvent, summary: 'News: starting, a warning, a hint.' },
  ready: { schema: events.ReadyEvent, summary: 'Audio may be sent from now on.' },
  config_ack: { schema: events.ConfigAckEvent, summary: 'Answers config.' },
  reset_ack: { schema: events.ResetAckEvent, summary: 'Answers reset.' },
  delta: { schema: events.DeltaEvent, summary: 'The utterance so far: replace, never append.' },
  final: { schema: events.FinalEvent, summary: 'The utterance, finished; exactly one per flush.' },
  error: { schema: events.ErrorEvent, summary: 'What went wrong, and whether the stream ends.' },
} as const;

export function asyncApiDocument() {
  const received = ['audio', ...Object.keys(ACCEPTED)];
  const sent = Object.keys(SENT);
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Streaming speech recognition for Kikuyu and Dholuo: the stream',
      version: INTERFACE_VERSION,
      license: { name: 'Apache-2.0' },
      description: DESCRIPTION,
    },
    defaultContentType: 'application/json',
    servers: {
      node: {
        host: '{host}',
        protocol: 'wss',
        description: 'Taken whole from `websocket_url` of the session response.',
        variables: { host: { description: 'The node that the session was placed on.' } },
        security: [{ $ref: '#/components/securitySchemes/sessionCredential' }],
      },
    },
    channels: {
      stream: {
        address: STREAM_PATH,
        summary: 'One session: audio in, transcripts out.',
        messages: Object.fromEntries(
          [...received, ...sent].map((name) => [name, messageRef(name)]),
        ),
        bindings: { ws: { method: 'GET', headers: UPGRADE_HEADERS, bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      receiveFromClient: operation('receive', 'What a client sends.', received),
      sendToClient: operation('send', 'What the server sends.', sent),
    },
    components: {
      securitySchemes: {
        sessionCredential: {
          type: 'httpApiKey',
          in: 'header',
          name: 'Sec-WebSocket-Protocol',
          description: `The second of \`websocket_protocols\`: \`${CREDENTIAL_PREFIX}...\`, good once, a secret.`,
        },
      },
      messages: { audio: AUDIO_MESSAGE, ...jsonMessages(ACCEPTED), ...jsonMessages(SENT) },
      schemas: publishSchemas({
        accepted: Object.values(ACCEPTED).map(({ schema }) => schema),
        sent: [events.Word, ...Object.values(SENT).map(({ schema }) => schema)],
      }),
    },
  };
}

const DESCRIPTION = `Open \`websocket_url\` and offer both values of \`websocket_protocols\`; only \`${SUBPROTOCOL}\` comes
back. Send audio once \`ready\` has arrived. Ignore event types, fields and codes that you do not know.

Every abnormal close by the server follows an \`error\` event with \`fatal: true\` and carries a reason word:

| close | reason | retry |
|---|---|---|
| 1000 | completed, max_audio_reached | |
${closeRows()}`;

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
  payload: { type: 'string', format: 'binary', maxLength: LIMITS.frameBytes },
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
        examples: examples.filter(({ type }) => type === name).map((payload) => ({ payload })),
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
