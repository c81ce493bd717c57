import { Validator } from '@seriousme/openapi-schema-validator';
import asyncApiSpecs from '@asyncapi/specs';
import addFormats from 'ajv-formats';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, test } from 'vitest';
import { asyncApiDocument } from '../src/documents/asyncapi.ts';
import * as examples from '../src/documents/examples.ts';
import * as protocol from '../src/index.ts';
import { ENDPOINT_ERRORS, openApiDocument } from '../src/documents/openapi.ts';

const openApi = openApiDocument();
const asyncApi = asyncApiDocument();

/** Returns every `$ref` in a document. */
function references(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) =>
    name === '$ref' && typeof inner === 'string' ? [inner] : references(inner),
  );
}

function resolve(document: unknown, pointer: string): unknown {
  return pointer
    .replace(/^#\//, '')
    .split('/')
    .reduce<unknown>(
      (value, part) =>
        typeof value === 'object' && value !== null ? Reflect.get(value, part) : undefined,
      document,
    );
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
ajv.addSchema(openApi, 'openapi').addSchema(asyncApi, 'asyncapi');

/** Returns what is wrong with a value, by a schema that may refer to its document. */
function invalid(document: string, schema: unknown, value: unknown): string[] {
  const validate = ajv.compile(withBase(schema, document));
  return validate(value) ? [] : [ajv.errorsText(validate.errors)];
}

function withBase(schema: unknown, document: string): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', `"${document}#/`));
}

/** Returns every object in a document for which the test is true. */
function findAll(value: unknown, isWanted: (value: object) => boolean): Record<string, unknown>[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = isWanted(value) ? [{ ...value }] : [];
  return [...own, ...Object.values(value).flatMap((inner) => findAll(inner, isWanted))];
}

function isDescribed(schema: unknown, document: unknown): boolean {
  const { $ref, description } = Object(schema);
  if (typeof $ref === 'string') return isDescribed(resolve(document, $ref), document);
  return typeof description === 'string' && description.length > 3;
}

/** The fields of a schema and of the objects inside it, by path. */
function fieldsOf(schema: unknown): [string, unknown][] {
  const { properties = {}, items, anyOf = [] } = Object(schema);
  const own = Object.entries<unknown>(properties).flatMap(([name, field]): [string, unknown][] => [
    [name, field],
    ...fieldsOf(field).map(([inner, value]): [string, unknown] => [`${name}.${inner}`, value]),
  ]);
  return [
    ...own,
    ...[items, ...anyOf].flatMap((inner) => (inner === undefined ? [] : fieldsOf(inner))),
  ];
}

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(openApi));
    expect(result).toMatchObject({ valid: true });
  });

  test('has only examples that match their schemas, of which some are a replay and a reduced reservation', () => {
    const contents = findAll(openApi, (value) => 'schema' in value && 'examples' in value);
    const problems = contents.flatMap(({ schema, examples }) =>
      Object.entries(Object(examples)).flatMap(([name, example]) =>
        invalid('openapi', schema, Reflect.get(Object(example), 'value')).map(
          (problem) => `${name}: ${problem}`,
        ),
      ),
    );
    expect(problems).toEqual([]);
    expect(contents.length).toBeGreaterThan(20);
    const created = openApi.paths['/v1/asr/sessions'].post.responses[201].content;
    expect(Object.keys(created['application/json'].examples)).toEqual([
      'created',
      'replayed',
      'reduced',
    ]);
  });

  test('documents the upgrade with its refusals, and the errors of any request', () => {
    expect(Object.keys(openApi.paths['/v1/asr/stream'].get.responses)).toEqual([
      '101',
      '400',
      '401',
      '403',
      '408',
      '426',
      '429',
      '431',
      '503',
    ]);
    const examples = findAll(openApi.components.responses, (value) => 'value' in value);
    const codes = examples.map(({ value }) =>
      String(Reflect.get(Object(Reflect.get(Object(value), 'error')), 'code')),
    );
    expect(codes.toSorted()).toEqual(ENDPOINT_ERRORS.anyRequest.toSorted());
  });

  test('has a request sample in every language for every call', () => {
    const calls = findAll(openApi.paths, (value) => 'operationId' in value);
    expect(calls).toHaveLength(4);
    for (const { operationId, 'x-codeSamples': samples } of calls) {
      const labels = findAll(samples, (value) => 'label' in value).map(({ label }) => label);
      expect(labels, String(operationId)).toEqual(['curl', 'TypeScript', 'Python', 'CLI']);
    }
  });

  test('H05 documents every error code for at least one endpoint', () => {
    const documented = new Set<string>(Object.values(ENDPOINT_ERRORS).flat());
    expect(Object.keys(protocol.API_ERRORS).filter((code) => !documented.has(code))).toEqual([]);
  });
});

describe('the AsyncAPI document', () => {
  test('is valid AsyncAPI 3.0', () => {
    // The specification includes its own copy of the meta-schema.
    const ajv = new Ajv({ strict: false, validateFormats: false, meta: false });
    const specification: object = asyncApiSpecs.schemas['3.0.0'];
    const validate = ajv.compile(specification);
    expect(validate(asyncApi), ajv.errorsText(validate.errors)).toBe(true);
  });

  test('has an example of every event and message of the protocol', () => {
    const types = [...examples.EXAMPLE_EVENTS, ...examples.EXAMPLE_MESSAGES].map(
      ({ payload }) => payload.type,
    );
    expect(Object.keys(asyncApi.components.messages).toSorted()).toEqual(
      ['audio', ...new Set(types)].toSorted(),
    );
  });

  test('has only examples that match their schemas', () => {
    const messages = findAll(
      asyncApi.components.messages,
      (value) => 'payload' in value && 'name' in value,
    );
    const problems = messages.flatMap(({ name, payload, examples = [] }) =>
      findAll(examples, (value) => 'payload' in value).flatMap((example) =>
        invalid('asyncapi', payload, example['payload']).map(
          (problem) => `${String(name)}: ${problem}`,
        ),
      ),
    );
    expect(problems).toEqual([]);
  });

  test.each([
    ['limit_warning', { type: 'status', code: 'limit_warning' }],
    ['draining', { type: 'status', code: 'draining' }],
    ['suspicious_audio', { type: 'status', code: 'suspicious_audio' }],
    ['an endpoint final', { type: 'final', reason: 'endpoint' }],
    ['a non-fatal error', { type: 'error', fatal: false }],
    [
      'a refusal that says when to retry',
      { type: 'error', close_code: 4503, retry_after_ms: expect.any(Number) },
    ],
  ])('has an example of %s', (_name, wanted) => {
    const payloads = examples.EXAMPLE_EVENTS.map(({ payload }) => payload);
    expect(payloads).toContainEqual(expect.objectContaining(wanted));
  });
});

test.each([
  ['OpenAPI', openApi],
  ['AsyncAPI', asyncApi],
])('every schema and field of the %s document has a description', (_name, document) => {
  const { schemas } = document.components;
  const undescribed = Object.entries(schemas).flatMap(([name, schema]) => [
    ...(isDescribed(schema, document) ? [] : [name]),
    ...fieldsOf(schema)
      .filter(([, field]) => !isDescribed(field, document))
      .map(([field]) => `${name}.${field}`),
  ]);
  expect(undescribed).toEqual([]);
  expect(Object.values(schemas).flatMap(fieldsOf).length).toBeGreaterThan(40);
});

test.each([
  ['OpenAPI', openApi],
  ['AsyncAPI', asyncApi],
])('resolves every reference in the %s document', (_name, document) => {
  const found = references(document);
  expect(found.length).toBeGreaterThan(10);
  for (const pointer of found) expect(resolve(document, pointer), pointer).toBeDefined();
});
