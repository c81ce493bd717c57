import { Validator } from '@seriousme/openapi-schema-validator';
import asyncApiSpecs from '@asyncapi/specs';
import addFormats from 'ajv-formats';
import { Ajv } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { TSchema } from 'typebox';
import { describe, expect, test } from 'vitest';
import { asyncApiDocument } from '../src/asyncapi.ts';
import * as examples from '../src/examples.ts';
import * as protocol from '../src/index.ts';
import { ENDPOINT_ERRORS, openApiDocument } from '../src/openapi.ts';

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

describe('the OpenAPI document', () => {
  test('is valid OpenAPI 3.1', async () => {
    const result = await new Validator().validate(structuredClone(openApi));
    expect(result).toMatchObject({ valid: true });
  });

  test('has examples that match its schemas', () => {
    const ajv = new Ajv2020({ strict: false });
    addFormats.default(ajv);
    ajv.addSchema(openApi, 'openapi');
    const bodies = [
      ['ModelList', examples.EXAMPLE_MODEL_LIST],
      ['CreateSessionRequest', examples.EXAMPLE_CREATE_SESSION],
      ['AsrSession', examples.EXAMPLE_SESSION],
      ['CreditBalance', examples.EXAMPLE_BALANCE],
    ] as const;
    for (const [name, example] of bodies) {
      const validate = ajv.compile({ $ref: `openapi#/components/schemas/${name}` });
      expect(validate(example), `${name}: ${ajv.errorsText(validate.errors)}`).toBe(true);
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

  test('lists every event and message of the protocol', () => {
    const types = [...examples.EXAMPLE_EVENTS, ...examples.EXAMPLE_MESSAGES].map(
      ({ type }) => type,
    );
    expect(Object.keys(asyncApi.components.messages).toSorted()).toEqual(
      ['audio', ...types].toSorted(),
    );
  });
});

test.each([
  ['OpenAPI', openApi],
  ['AsyncAPI', asyncApi],
])('resolves every reference in the %s document', (_name, document) => {
  const found = references(document);
  expect(found.length).toBeGreaterThan(10);
  for (const pointer of found) expect(resolve(document, pointer), pointer).toBeDefined();
});

describe('the examples', () => {
  const ajv = new Ajv({ strict: false });
  addFormats.default(ajv);
  const cases: [string, TSchema, unknown][] = [
    ...examples.EXAMPLE_EVENTS.map((event): [string, TSchema, unknown] => [
      event.type,
      protocol.ServerEvent,
      event,
    ]),
    ...examples.EXAMPLE_MESSAGES.map((message): [string, TSchema, unknown] => [
      message.type,
      protocol.ClientMessage,
      message,
    ]),
    ['session', protocol.AsrSession, examples.EXAMPLE_SESSION],
    ['balance', protocol.CreditBalance, examples.EXAMPLE_BALANCE],
    ['models', protocol.ModelList, examples.EXAMPLE_MODEL_LIST],
  ];
  test.each(cases)('%s matches its schema', (_name, schema, example) => {
    expect(ajv.validate(schema, example), ajv.errorsText()).toBe(true);
  });
});
