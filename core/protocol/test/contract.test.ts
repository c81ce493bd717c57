import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { describe, expect, test } from 'vitest';
import * as protocol from '../src/index.ts';

const ajv = new Ajv({ strict: false });
addFormats.default(ajv);
const accepts = ajv.compile(protocol.CreateSessionRequest);

describe('CreateSessionRequest', () => {
  test.each([
    [{ model: 'x' }, true],
    [{ model: 'x', max_audio_seconds: 1 }, true],
    [{ model: 'x', max_audio_seconds: 300 }, true],
    [{ model: 'x', max_audio_seconds: 0 }, false],
    [{ model: 'x', max_audio_seconds: 301 }, false],
    [{ model: 'x', max_audio_seconds: 1.5 }, false],
    [{ model: 'x', max_audio_seconds: '60' }, false],
    [{ model: 'x', max_audio_seconds: null }, false],
    [{ model: 'x', other: 1 }, false],
    [{ model: 1 }, false],
    [{}, false],
  ])('S05 S07 validates %j: %s', (body, isValid) => {
    expect(accepts(body)).toBe(isValid);
  });
});

test('S13 a chunk is 14 encoder frames of 80 ms', () => {
  expect(protocol.CONTEXT_SIZE).toEqual([56, 13]);
  expect(protocol.CHUNK_SAMPLES).toBe(17_920);
});

test('H04 every message is a fixed sentence without placeholders', () => {
  const messages = [
    ...Object.values(protocol.API_ERRORS),
    ...Object.values(protocol.STREAM_ERRORS),
  ].map(({ message }) => message);
  for (const message of messages) {
    expect(message).toMatch(/^[A-Zc].*\.$/);
    expect(message).not.toMatch(/\$\{|%s|undefined/);
  }
});

test('H04 every message says what happened and then what to do', () => {
  const messages = [
    ...Object.values(protocol.API_ERRORS).map(({ message }) => message),
    ...Object.values(protocol.STREAM_ERRORS).map(({ message }) => message),
    ...Object.values(protocol.SPECIFIC_MESSAGES).flatMap((messages) => Object.values(messages)),
  ];
  for (const message of messages) expect(message).toMatch(/\S\. [A-Z]/);
  for (const { status, message } of Object.values(protocol.API_ERRORS)) {
    expect(message.includes('Retry-After'), message).toBe(status === 429 || status === 503);
  }
});

test('every code has a type that the interface allows for its status', () => {
  const types = {
    400: ['invalid_request_error'],
    401: ['authentication_error'],
    402: ['insufficient_credits'],
    403: ['permission_error'],
    404: ['model_not_found', 'invalid_request_error'],
    405: ['invalid_request_error'],
    408: ['invalid_request_error'],
    409: ['idempotency_conflict'],
    413: ['request_too_large'],
    415: ['unsupported_media_type'],
    426: ['invalid_request_error'],
    429: ['rate_limit_error'],
    431: ['invalid_request_error'],
    503: ['api_error'],
  };
  for (const code of Object.keys(protocol.API_ERRORS).filter(protocol.isApiErrorCode)) {
    expect(types[protocol.API_ERRORS[code].status]).toContain(protocol.apiErrorType(code));
  }
});

test('M02 accepts only the two model ids, not inherited property names', () => {
  expect(protocol.MODEL_IDS.every(protocol.isModelId)).toBe(true);
  for (const other of ['', 'toString', '__proto__', 'svc-asr-kikuyu-v2']) {
    expect(protocol.isModelId(other)).toBe(false);
  }
});
