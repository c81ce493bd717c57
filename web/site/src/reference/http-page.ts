import { openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import { aside, examples, json, page, table, type Example } from './markdown-parts.ts';
import { fieldList, type JsonSchema, type Schemas } from './schema-fields.ts';

interface Header {
  readonly $ref?: string;
  readonly description?: string;
}

interface Media {
  readonly schema: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<
    Record<string, { readonly summary?: string; readonly value: unknown }>
  >;
}

interface Response {
  readonly $ref?: string;
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly summary: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly required?: boolean;
    readonly schema: JsonSchema;
  }[];
  readonly requestBody?: {
    readonly description?: string;
    readonly content: Readonly<Record<string, Media>>;
  };
  readonly responses: Readonly<Record<string, Response>>;
  /** Samples in several languages, in the form that the common tools understand. */
  readonly 'x-codeSamples'?: readonly { lang: string; label?: string; source: string }[];
}

interface Document {
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Schemas;
    readonly headers: Readonly<Record<string, Header>>;
    readonly responses?: Readonly<Record<string, Response>>;
  };
}

const JSON_TYPE = 'application/json';
/** The languages of the samples, as Markdown's fences name them. */
const FENCES: Readonly<Record<string, string>> = {
  Shell: 'sh',
  TypeScript: 'ts',
  Python: 'python',
};

/** Returns docs/reference/http.md, generated from the OpenAPI document. */
export function httpPage(): string {
  // Published as JSON, so this is what readers of openapi.json get.
  const document: Document = JSON.parse(JSON.stringify(openApiDocument()));
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) =>
      operationSection(document, { path, method: method.toUpperCase(), operation }),
    ),
  );
  return page(
    '# HTTP API',
    'Base URL: `https://asr.example.org`. Every request needs HTTPS.',
    'Authentication: `Authorization: Bearer svc_live_v1_…`, an API key that you [create in the console](../concepts/keys.md) and keep on your server.',
    paragraphs(document.info.description),
    'The [stream reference](stream.md) describes the WebSocket. [Errors](../errors.md) lists every code.',
    'Tools can read the same contract in [openapi.json](../openapi.json). `npm run docs` generates both from `core/protocol/`.',
    ...operations,
  );
}

function operationSection(
  document: Document,
  { path, method, operation }: { path: string; method: string; operation: Operation },
): string {
  const { schemas } = document.components;
  const body = operation.requestBody?.content[JSON_TYPE];
  const [status = '', success] =
    Object.entries(operation.responses).find(([code]) => /^[12]/.test(code)) ?? [];
  const answer = success?.content?.[JSON_TYPE];
  const isEmpty = answer === undefined;
  return page(
    `## ${operation.summary}`,
    `\`${method} ${path}\``,
    paragraphs(operation.description ?? ''),
    needsKey(operation) ? 'Needs an API key: `Authorization: Bearer svc_live_v1_…`.' : '',
    parameterList(operation),
    body === undefined ? '' : `**Request body**\n\n${operation.requestBody?.description ?? ''}`,
    body === undefined ? '' : fieldList(body.schema, schemas),
    success === undefined ? '' : `**Response ${status}**\n\n${success.description}`,
    isEmpty ? '' : fieldList(answer.schema, schemas),
    aside(examples(requestSamples(operation)), ...successExamples(status, answer)),
    `### Errors of ${method} ${path}`,
    headerTable(document, success),
    errorTable(document, operation),
    aside(errorExample(document, operation)),
  ).trimEnd();
}

function paragraphs(text: string): string {
  return text
    .trim()
    .replaceAll('(/asyncapi.json)', '(../asyncapi.json)')
    .split(/\n\n+/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n\n');
}

function parameterList({ parameters = [] }: Operation): string {
  if (parameters.length === 0) return '';
  const properties = Object.fromEntries(
    parameters.map(({ name, description, schema }) => [
      name,
      { ...schema, ...(description === undefined ? {} : { description }) },
    ]),
  );
  const required = parameters.filter((one) => one.required === true).map(({ name }) => name);
  return `**Request headers**\n\n${fieldList({ properties, required }, {})}`;
}

function requestSamples({ 'x-codeSamples': samples = [] }: Operation): Example[] {
  return samples.map(({ lang, label, source }) => ({
    language: FENCES[lang] ?? lang.toLowerCase(),
    label: label ?? lang,
    code: source,
  }));
}

function needsKey({ security = [] }: Operation): boolean {
  return security.some((scheme) => 'apiKey' in scheme);
}

function successExamples(status: string, media: Media | undefined): string[] {
  if (media === undefined) return [];
  const named = Object.entries(media.examples ?? {});
  const blocks =
    named.length === 0
      ? [{ language: 'json', label: `${status} response`, code: json(media.example) }]
      : named.map(([name, { summary, value }]) => ({
          language: 'json',
          label: summary ?? name.replaceAll('_', ' '),
          code: json(value),
        }));
  return [examples(blocks)];
}

function headerTable(document: Document, response: Response | undefined): string {
  const rows = Object.entries(response?.headers ?? {}).map(([name, header]) => {
    const shared = document.components.headers[header.$ref?.split('/').at(-1) ?? ''];
    return [`\`${name}\``, header.description ?? shared?.description ?? ''];
  });
  return rows.length === 0 ? '' : table(['response header', 'meaning'], rows);
}

function errorTable(document: Document, { responses }: Operation): string {
  const rows = Object.entries(responses)
    .filter(([status]) => /^[45]/.test(status))
    .flatMap(([status, response]) =>
      errorValues(document, response).map((value) => {
        const { code, message } = errorOf(value);
        return [status, `\`${code}\``, message];
      }),
    );
  return rows.length === 0 ? '' : table(['status', 'code', 'message'], rows);
}

/** The bodies of an error response, one per code. */
function errorValues(document: Document, response: Response): unknown[] {
  const shared = document.components.responses?.[response.$ref?.split('/').at(-1) ?? ''];
  const media = (shared ?? response).content?.[JSON_TYPE];
  const named = Object.values(media?.examples ?? {}).map(({ value }) => value);
  return named.length > 0 || media?.example === undefined ? named : [media.example];
}

function errorExample(document: Document, { responses }: Operation): string {
  const response = responses['429'];
  const [value] = response === undefined ? [] : errorValues(document, response);
  if (value === undefined) return '';
  return examples([{ language: 'json', label: '429 response', code: json(value) }]);
}

function errorOf(value: unknown): { code: string; message: string } {
  const body: { error: { code: string; message: string } } = JSON.parse(JSON.stringify(value));
  return body.error;
}
