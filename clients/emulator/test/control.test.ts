import { request as httpRequest } from 'node:http';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startControl, type Control } from '../src/control.ts';
import type { Emulator } from '../src/emulator.ts';
import { startEmulatorOn } from '../src/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';

let emulator: Emulator;
let control: Control;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase());
  control = await startControl(emulator, 0);
});
afterAll(async () => {
  await control.stop();
  await emulator.stop();
});

async function ask(headers: Record<string, string>): Promise<number | undefined> {
  const request = httpRequest(control.url, { headers });
  request.end();
  const [response] = await once(request, 'response');
  response.resume();
  return response.statusCode;
}

test('the control port refuses web pages and foreign host names', async () => {
  const { host, port } = new URL(control.url);
  expect(await ask({ host })).toBe(200);
  expect(await ask({ host: `localhost:${port}` })).toBe(200);
  expect(await ask({ host: `rebound.example:${port}` })).toBe(403);
  expect(await ask({ host, origin: 'https://evil.example' })).toBe(403);
});
