import { copyFile } from 'node:fs/promises';
import { Agent, request } from 'node:https';
import { text } from 'node:stream/consumers';
import { startSherpaEngine, type SherpaEngine } from '@svc-asr/engine';
import { MODELS_DIR, speech as fixture } from '@svc-asr/testing/speech/fixtures.ts';
import type { AsrSession, CreditBalance } from '@svc-asr/protocol';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { createTestDatabase, type TestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startHaproxy, type Proxy } from '@svc-asr/testing/haproxy.ts';
import { startService, type Service, type Tenant } from '@svc-asr/testing/service/service.ts';
import { framed, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Uses the real parts: HTTPS, WSS, PostgreSQL, and recognisers in child processes. */

let engine: SherpaEngine;
let certificate: TestCertificate;
let database: TestDatabase;
beforeAll(async () => {
  [engine, certificate, database] = await Promise.all([
    startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 }),
    makeCertificate(),
    createTestDatabase(),
  ]);
});
afterAll(async () => {
  await engine.close();
  await database.drop();
});

interface Door {
  readonly url: string;
  readonly tenant: Tenant;
}

function call<Body>(door: Door, path: string, body?: unknown): Promise<Body> {
  const agent = new Agent({ ca: certificate.cert, keepAlive: false });
  const headers = {
    authorization: `Bearer ${door.tenant.apiKey}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  return new Promise((resolve, reject) => {
    const method = body === undefined ? 'GET' : 'POST';
    request(door.url + path, { agent, method, headers }, (response) => {
      void text(response).then((answer) => resolve(JSON.parse(answer)));
    })
      .on('error', reject)
      .end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Streams one fixture and expects the recorded transcript. `speed` 1 is real time. */
async function say(door: Door, name: string, speed: number) {
  const { model, pcm, expected } = fixture(name);
  const session = await call<AsrSession>(door, '/v1/asr/sessions', {
    model,
    max_audio_seconds: 20,
  });
  const client = await StreamClient.ready(session, { ca: certificate.cert });
  const beganMs = performance.now();
  let frames = 0;
  for (const frame of framed(Buffer.from(pcm))) {
    client.send(frame);
    frames += 1;
    const dueMs = (frames * 100) / speed - (performance.now() - beganMs);
    if (dueMs > 1) await new Promise((resolve) => setTimeout(resolve, dueMs));
  }
  const final = await client.flush();
  expect(final.text).toBe(expected);
  expect(await client.close()).toEqual({ code: 1000, reason: 'completed' });
  const usage = await call<CreditBalance>(door, '/v1/usage');
  const ms = Math.ceil(pcm.byteLength / 32);
  return { final, deltas: client.ofType('delta'), usage, ms, billMs: Math.ceil(ms / 1000) * 1000 };
}

async function serve(env: Record<string, string>): Promise<Service> {
  return startService({ database, env, parts: { engine }, creditMs: 0 });
}

describe('one process that terminates TLS itself', () => {
  let svc: Service;
  beforeAll(async () => {
    const port = String(await freePort());
    svc = await serve({
      PORT: port,
      PUBLIC_STREAM_URL: `wss://127.0.0.1:${port}`,
      TLS_CERT_FILE: certificate.certFile,
      TLS_KEY_FILE: certificate.keyFile,
    });
  });
  afterAll(() => svc.stop());

  test.each([
    ['kikuyu-1', 1],
    ['dholuo-1', 1],
    ['kikuyu-2', 20],
    ['dholuo-1', 20],
  ])('transcribes %s at %i times real time and charges it to the second', async (name, speed) => {
    const door = { url: svc.url, tenant: await svc.addTenant({ creditMs: 60_000 }) };
    const { final, deltas, usage, ms, billMs } = await say(door, name, speed);
    expect(final.words.map((word) => word.text).join(' ')).toBe(final.text);
    expect(final).toMatchObject({ total_audio_ms: ms, billable_ms: billMs });
    // Audio sent at once may be decoded before its first delta is due.
    expect(deltas.length).toBeGreaterThanOrEqual(speed === 1 ? 1 : 0);
    expect(usage).toMatchObject({
      available_ms: 60_000 - billMs,
      reserved_ms: 0,
      consumed_ms: billMs,
      recent_sessions: [{ status: 'completed', audio_ms: ms, billable_ms: billMs }],
    });
  });

  test('a renewed certificate is served without a restart, and open streams continue', async () => {
    const door = { url: svc.url, tenant: await svc.addTenant({ creditMs: 60_000 }) };
    const { model } = fixture('kikuyu-1');
    const session = await call<AsrSession>(door, '/v1/asr/sessions', { model });
    const client = await StreamClient.ready(session, { ca: certificate.cert });
    const renewed = await makeCertificate('renewed.example.com');
    await copyFile(renewed.certFile, certificate.certFile);
    await copyFile(renewed.keyFile, certificate.keyFile);
    process.kill(process.pid, 'SIGHUP');
    await untilLogged(svc, 'The certificate was reloaded.');
    certificate = renewed;
    expect(await call<CreditBalance>(door, '/v1/usage')).toMatchObject({
      object: 'credit_balance',
    });
    expect((await client.flush()).total_audio_ms).toBe(0);
    await client.close();
  });
});

describe('two nodes behind HAProxy', () => {
  let proxy: Proxy;
  let nodes: readonly [Service, Service];
  beforeAll(async () => {
    const proxyCertificate = await makeCertificate();
    certificate = proxyCertificate;
    const ports = [await freePort(), await freePort()] as const;
    const publicPort = await freePort();
    const start = (at: 0 | 1): Promise<Service> =>
      serve({
        PORT: String(ports[at]),
        NODE_ID: `node-${at + 1}`,
        PUBLIC_STREAM_URL: `wss://127.0.0.1:${publicPort}`,
        TRUSTED_PROXIES: '127.0.0.1',
      });
    nodes = await Promise.all([start(0), start(1)]);
    proxy = await startHaproxy({
      certificate: proxyCertificate,
      port: publicPort,
      nodes: [nodes[0].url, nodes[1].url],
    });
  });
  afterAll(async () => {
    await proxy.stop();
    await Promise.all(nodes.map((node) => node.stop()));
  });

  test.each(['kikuyu-1', 'dholuo-1', 'kikuyu-2'])(
    'transcribes %s through the load balancer on either node and charges it to the second',
    async (name) => {
      const door = { url: proxy.url, tenant: await nodes[0].addTenant({ creditMs: 60_000 }) };
      const { usage, billMs } = await say(door, name, 10);
      expect(usage).toMatchObject({ reserved_ms: 0, consumed_ms: billMs });
    },
  );
});

async function untilLogged(svc: Service, line: string): Promise<void> {
  while (!svc.logged().includes(line)) await new Promise((resolve) => setTimeout(resolve, 10));
}
