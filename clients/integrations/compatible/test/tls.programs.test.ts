import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { WebSocket } from 'ws';
import { startCompatibleService, type CompatibleService } from './compatible-service.ts';

let service: CompatibleService;
let ca: string;
beforeAll(async () => {
  const files: TestCertificate = await makeCertificate();
  ca = readFileSync(files.certFile, 'utf8');
  const tls = { cert: ca, key: readFileSync(files.keyFile, 'utf8') };
  service = await startCompatibleService({ config: { tls, host: 'localhost' } });
});
afterAll(() => service.stop());

test('serves HTTPS and WSS with its own certificate', async () => {
  const headers = { authorization: `Bearer ${service.emulator.apiKey}` };
  expect(service.url).toMatch(/^https:/);
  const asked = request(`${service.url}/v1/models`, { ca, headers }).end();
  const [response] = await once(asked, 'response');
  expect(response.statusCode).toBe(200);
  const address = `${service.url.replace('http', 'ws')}/v1/realtime?intent=transcription`;
  const socket = new WebSocket(address, { ca, headers });
  const [data] = await once(socket, 'message');
  expect(JSON.parse(String(data))).toMatchObject({ type: 'session.created' });
  socket.terminate();
});

test('a client that does not trust the certificate sends no key', async () => {
  const asked = request(`${service.url}/v1/models`).end();
  await expect(once(asked, 'response')).rejects.toThrow(/self-signed/);
});
