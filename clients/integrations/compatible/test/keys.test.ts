import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import { expect, test } from 'vitest';
import { takeKey } from '../src/keys.ts';

const KEY = assembleApiKey('A'.repeat(12), 'b'.repeat(32));

function requestWith(headers: Record<string, string>): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  Object.assign(request.headers, headers);
  request.rawHeaders.push(...Object.entries(headers).flat());
  return request;
}

test.each([
  [`Bearer ${KEY}`],
  [`bearer ${KEY}`],
  [`Token ${KEY}`],
  [`token ${KEY}`],
  [`Token  ${KEY} `],
])('takes the key from Authorization: %s', (authorization) => {
  expect(takeKey(requestWith({ authorization }))).toEqual({ key: KEY, protocol: null });
});

test.each([
  [`token, ${KEY}`, 'token'],
  [`bearer, ${KEY}`, 'bearer'],
  [`token, ${KEY}, x-deepgram-session-id, 0b8d3b1c`, 'token'],
  [`realtime, openai-insecure-api-key.${KEY}`, 'realtime'],
  [`realtime, openai-insecure-api-key.${KEY}, openai-beta.realtime-v1`, 'realtime'],
])('takes the key from the subprotocols %s and accepts %s', (protocols, protocol) => {
  const request = requestWith({ 'sec-websocket-protocol': protocols });
  expect(takeKey(request)).toEqual({ key: KEY, protocol });
  expect(request.headers['sec-websocket-protocol']).toBe(protocol);
});

test('a program that sends the header and offers realtime gets realtime', () => {
  const headers = { authorization: `Bearer ${KEY}`, 'sec-websocket-protocol': 'realtime' };
  expect(takeKey(requestWith(headers))).toEqual({ key: KEY, protocol: 'realtime' });
});

test('the key is removed from the request', () => {
  const request = requestWith({
    authorization: `Token ${KEY}`,
    'sec-websocket-protocol': `token, ${KEY}`,
  });
  takeKey(request);
  expect(JSON.stringify([request.headers, request.rawHeaders])).not.toContain(KEY);
});

test('two Authorization headers are refused', () => {
  const request = requestWith({ authorization: `Bearer ${KEY}` });
  request.rawHeaders.push('authorization', `Bearer ${KEY}`);
  expect(() => takeKey(request)).toThrow(expect.objectContaining({ code: 'invalid_api_key' }));
  expect(request.rawHeaders).toEqual([]);
});

test.each([
  [{}, 'missing_api_key'],
  [{ authorization: KEY }, 'missing_api_key'],
  [{ authorization: `Basic ${KEY}` }, 'missing_api_key'],
  [{ 'sec-websocket-protocol': 'token' }, 'missing_api_key'],
  [{ authorization: 'Bearer sk-1234' }, 'invalid_api_key'],
  [{ authorization: `Bearer ${KEY.slice(0, -1)}x` }, 'invalid_api_key'],
  [{ 'sec-websocket-protocol': 'token, sk-1234' }, 'invalid_api_key'],
])('%j is refused with %s, without asking the service', (headers, code) => {
  expect(() => takeKey(requestWith(headers))).toThrow(
    expect.objectContaining({ status: 401, code }),
  );
});
