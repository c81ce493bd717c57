import {
  API_ERRORS,
  apiErrorType,
  ErrorBody,
  isApiErrorCode,
  SPECIFIC_MESSAGES,
  type ApiErrorCode,
} from '@svc-asr/protocol';
import { ENDPOINT_ERRORS, openApiDocument } from '@svc-asr/protocol/documents/openapi.ts';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';

/**
 * Checks every response in every test: our request id, a body that matches the published schema, only the errors that
 * the endpoint documents, fixed messages, and Retry-After where it is due.
 */
export function checkAnswer(input: {
  method: string;
  path: string;
  response: Response;
  text: string;
}): void {
  const { response, text } = input;
  const { status, headers } = response;
  expect(headers.get('x-request-id')).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  expect(headers.get('content-type')).toMatch(/^application\/json/);
  const body: unknown = JSON.parse(text);
  const operation = OPERATIONS.get(`${input.method} ${input.path.split('?')[0]}`);
  if (operation !== undefined) {
    const schema = operation.schemas.get(status);
    expect(schema, `${input.method} ${input.path} does not document ${status}`).toBeDefined();
    expect(schema?.(body), JSON.stringify(schema?.errors)).toBe(true);
  }
  if (status < 400) return;
  checkError(body, response, operation?.codes);
}

function checkError(
  body: unknown,
  response: Response,
  documented: readonly ApiErrorCode[] | undefined,
): void {
  const { headers, status } = response;
  if (!isErrorBody(body)) throw new Error(`Not an error body: ${JSON.stringify(body)}`);
  const { type, code, message, request_id } = body.error;
  expect(request_id).toBe(headers.get('x-request-id'));
  if (!isApiErrorCode(code)) throw new Error(`${code} is not in any error table`);
  expect({ status, type }).toEqual({ status: API_ERRORS[code].status, type: apiErrorType(code) });
  expect([API_ERRORS[code].message, ...(SPECIFIC.get(code) ?? [])]).toContain(message);
  if (documented !== undefined) expect(documented).toContain(code);
  if (status === 429 || status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/);
}

interface Operation {
  readonly schemas: ReadonlyMap<number, ValidateFunction>;
  readonly codes: readonly ApiErrorCode[];
}

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);
const isErrorBody = ajv.compile<ErrorBody>(ErrorBody);
const CODES = new Map<string, readonly ApiErrorCode[]>(Object.entries(ENDPOINT_ERRORS));
const SPECIFIC = new Map<string, readonly string[]>(
  Object.entries(SPECIFIC_MESSAGES).map(([code, messages]) => [code, Object.values(messages)]),
);
const OPERATIONS = compileOperations();

function compileOperations(): ReadonlyMap<string, Operation> {
  const document = openApiDocument();
  ajv.addSchema(document, 'openapi');
  const operations = new Map<string, Operation>();
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(methods)) {
      // A 101 has no body.
      const statuses = Object.keys(operation.responses)
        .map(Number)
        .filter((status) => status >= 200);
      const pointer = `openapi#/paths/${path.replaceAll('/', '~1')}/${method}/responses`;
      const schemas = statuses.map((status): [number, ValidateFunction] => [
        status,
        ajv.compile({ $ref: `${pointer}/${status}/content/application~1json/schema` }),
      ]);
      operations.set(`${method.toUpperCase()} ${path}`, {
        schemas: new Map(schemas),
        codes: CODES.get(operation.operationId) ?? [],
      });
    }
  }
  return operations;
}
