import { asyncApiDocument } from '@svc-asr/protocol/documents/asyncapi.ts';
import {
  CREDENTIAL_PREFIX,
  REFUSAL_CLOSE_CODES,
  SUBPROTOCOL,
} from '@svc-asr/protocol/constants.ts';
import { NORMAL_CLOSE_REASONS, STREAM_ERRORS } from '@svc-asr/protocol/events.ts';
import { aside, examples, json, page, table, type Example } from './markdown-parts.ts';
import { fieldList, resolveSchema, type JsonSchema, type Schemas } from './schema-fields.ts';

interface Message {
  readonly name: string;
  readonly title: string;
  readonly summary: string;
  readonly description?: string;
  readonly contentType: string;
  readonly payload: JsonSchema;
  readonly examples?: readonly { name?: string; summary?: string; payload: unknown }[];
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly messages: readonly { readonly $ref: string }[];
}

interface Document {
  readonly info: { readonly description: string };
  readonly channels: {
    readonly stream: {
      readonly address: string;
      readonly summary: string;
      readonly description?: string;
      readonly bindings: { readonly ws: { readonly headers: JsonSchema } };
    };
  };
  readonly operations: { readonly receiveFromClient: Operation; readonly sendToClient: Operation };
  readonly components: {
    readonly messages: Readonly<Record<string, Message>>;
    readonly schemas: Schemas;
  };
}

/** Returns docs/reference/stream.md, generated from the AsyncAPI document and the error tables. */
export function streamPage(): string {
  // Published as JSON, so this is what readers of asyncapi.json get.
  const document: Document = JSON.parse(JSON.stringify(asyncApiDocument()));
  const { stream } = document.channels;
  const about = splitDescription(document.info.description);
  return page(
    '# Stream',
    about.get('') ?? '',
    'Tools can read the same contract in [asyncapi.json](../asyncapi.json). `npm run docs` generates both from `core/protocol/`.',
    '![One session, from the reservation to the charge](stream-session.svg)',
    '## Order',
    about.get('Order') ?? '',
    '## Connect',
    stream.summary,
    paragraphs(stream.description ?? ''),
    'The address and both subprotocols come from [Create a streaming session](http.md#create-a-streaming-session).',
    fieldList(stream.bindings.ws.headers, {}),
    aside(CONNECT),
    '## Messages you send',
    paragraphs(document.operations.receiveFromClient.description ?? ''),
    ...sections(document, document.operations.receiveFromClient),
    '## Events you receive',
    'Ignore event types, fields and codes that you don’t know: v1 may gain some.',
    paragraphs(document.operations.sendToClient.description ?? ''),
    ...sections(document, document.operations.sendToClient),
    '## Turns',
    'With `endpointing` the server ends a turn at a pause and sends the `final` by itself.',
    '![Endpointing: speech starts, speech ends, final](stream-endpointing.svg)',
    '## Close codes',
    about.get('Closes') ?? '',
    closeTable(),
    '![After a retryable error the client continues in a new session](stream-failure.svg)',
    '### Refused streams',
    about.get('Refused streams') ?? '',
    '## Errors that leave the stream open',
    'They arrive as `error` events with `fatal: false`. After more than ten, the server closes the stream.',
    openErrorTable(),
  );
}

/** The document's description by its headings, without its table of close codes: the one below says more. */
function splitDescription(description: string): Map<string, string> {
  const [opening = '', ...rest] = description.split(/^## /m);
  const parts = rest.map((part): [string, string] => {
    const [heading = '', ...body] = part.split('\n');
    return [heading.trim(), body.join('\n')];
  });
  return new Map(
    [['', opening] as const, ...parts].map(([heading, text]) => [heading, paragraphs(text)]),
  );
}

function paragraphs(text: string): string {
  return text
    .trim()
    .replaceAll('(/openapi.json)', '(../openapi.json)')
    .split(/\n\n+/)
    .filter((block) => !block.startsWith('|'))
    .map((block) =>
      block.startsWith('- ') ? block : block.replaceAll('\n', ' ').replace(/:$/, '.'),
    )
    .join('\n\n');
}

const CONNECT = `\`\`\`http Request
GET /v1/asr/stream HTTP/1.1
Host: node-1.example.com
Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Version: 13
Sec-WebSocket-Key: …
Sec-WebSocket-Protocol: ${SUBPROTOCOL}, ${CREDENTIAL_PREFIX}…
\`\`\`

\`\`\`http Response
HTTP/1.1 101 Switching Protocols
Connection: Upgrade
Upgrade: websocket
Sec-WebSocket-Accept: …
Sec-WebSocket-Protocol: ${SUBPROTOCOL}
\`\`\``;

function sections(document: Document, { messages }: Operation): string[] {
  return messages.map(({ $ref }) => {
    const name = $ref.split('/').at(-1) ?? '';
    const message = document.components.messages[name];
    if (message === undefined) throw new Error(`There is no message ${name}.`);
    return messageSection(message, document.components.schemas);
  });
}

function messageSection(message: Message, schemas: Schemas): string {
  const schema = resolveSchema(message.payload, schemas);
  return page(
    `### ${message.name}`,
    message.summary,
    paragraphs(message.description ?? ''),
    fieldList(schema, schemas),
    aside(examples((message.examples ?? []).map((example) => toExample(example, message)))),
  ).trimEnd();
}

function toExample(
  example: { name?: string; summary?: string; payload: unknown },
  message: Message,
): Example {
  const name = (example.name ?? message.name).replace(`${message.name}_`, '');
  const label = name.replaceAll('_', ' ');
  return { language: 'json', label, code: json(example.payload) };
}

function closeTable(): string {
  const normal = NORMAL_CLOSE_REASONS.map((reason) => [
    '1000',
    `\`${reason}\``,
    reason === 'completed'
      ? 'You closed the stream, and every `final` was sent. Accepted audio is charged.'
      : 'The reserved audio is used up. The last `final` was sent before the close. Create a session for more.',
    reason === 'completed' ? 'nothing' : 'new session',
  ]);
  const errors = Object.entries(STREAM_ERRORS).flatMap(([reason, error]) =>
    'close' in error
      ? [[String(error.close), `\`${reason}\``, error.message, nextStep(error)]]
      : [],
  );
  const refusals = Object.entries(REFUSAL_CLOSE_CODES).map(([status, close]) => [
    String(close),
    'the code of the error',
    `A browser’s upgrade was refused, as HTTP ${status}. Nothing is charged, and the credential is not spent.`,
    REFUSAL_STEPS[status] ?? '',
  ]);
  return table(
    ['close', 'reason', 'what happened', 'next step'],
    [...normal, ...errors, ...refusals],
  );
}

const REFUSAL_STEPS: Readonly<Record<string, string>> = {
  400: 'fix the client',
  401: 'new session',
  403: 'allow the origin, or contact the operator',
  429: 'wait `retry_after_ms`, then open again',
  503: 'wait `retry_after_ms`, then open again',
};

function nextStep({ close, retryable }: { close: number; retryable?: boolean }): string {
  if (retryable === true) return 'new session, from the last `final` on';
  if (close === 4408) return 'new session when someone speaks';
  return close === 4403 ? 'contact the operator' : 'fix the client';
}

function openErrorTable(): string {
  const rows = Object.entries(STREAM_ERRORS).flatMap(([code, error]) =>
    'close' in error
      ? []
      : [
          [
            `\`${code}\``,
            error.message,
            'retryable' in error ? 'same stream, after 1 s' : 'fix the client',
          ],
        ],
  );
  return table(['code', 'message', 'next step'], rows);
}
