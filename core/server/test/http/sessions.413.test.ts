import { afterAll, expect, test } from 'vitest';
import { KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { sendRaw } from '../support/raw-http.ts';

const svc = await startService();
afterAll(() => svc.stop());

const LIMIT = 16_384;

/** Valid JSON of exactly this many bytes. */
function bodyOf(bytes: number): Buffer {
  const json = JSON.stringify({ model: KIKUYU });
  return Buffer.from(json + ' '.repeat(bytes - json.length));
}

/** Declared: with Content-Length. Streamed: in chunks, so the server must count. */
async function post(body: Buffer, how: 'declared' | 'streamed') {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  return svc.request('/v1/asr/sessions', {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: how === 'declared' ? body : new Blob([body]).stream(),
    duplex: 'half',
  });
}

test.each(['declared', 'streamed'] as const)('S04 accepts 16,384 bytes, %s', async (how) => {
  expect((await post(bodyOf(LIMIT), how)).status).toBe(201);
});

test.each(['declared', 'streamed'] as const)(
  'S04 returns 413 for 16,385 bytes, %s',
  async (how) => {
    const { status, body, headers } = await post(bodyOf(LIMIT + 1), how);
    expect(status).toBe(413);
    expect(body.error).toMatchObject({ type: 'request_too_large', code: 'request_too_large' });
    expect(headers.get('connection')).toBe('close');
  },
);

test('S04 checks the size before it parses the JSON', async () => {
  expect((await post(Buffer.alloc(LIMIT + 1, 'x'), 'declared')).status).toBe(413);
});

/** The status line that a client gets which waits for "100 Continue" before it sends its body. */
async function waitForContinue(apiKey: string, length: number): Promise<number> {
  const headers = [
    'Host: x',
    `Authorization: Bearer ${apiKey}`,
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    'Expect: 100-continue',
    'Connection: close',
  ];
  const request = `POST /v1/asr/sessions HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n`;
  // The body follows at once, so that an answer ends the connection in every case.
  const { status } = await sendRaw(svc.url, request + JSON.stringify({ model: KIKUYU }));
  return status;
}

test('S04 a client that waits to send its body is told to only if its body will be read', async () => {
  const { apiKey } = await svc.addTenant({ creditMs: 60_000 });
  const length = JSON.stringify({ model: KIKUYU }).length;
  expect(await waitForContinue(apiKey, length)).toBe(100);
  expect(await waitForContinue(apiKey, LIMIT + 1)).toBe(413);
  expect(await waitForContinue('svc_live_v1_wrong', length)).toBe(401);
});
