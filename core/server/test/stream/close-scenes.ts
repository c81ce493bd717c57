import { expect } from 'vitest';
import { setAccountStatus } from '../../src/accounts/accounts.ts';
import type {
  ForeignClient,
  ForeignClose,
  ForeignStream,
} from '@svc-asr/testing/service/foreign-client.ts';
import {
  KIKUYU,
  startService,
  type Service,
  type ServiceOptions,
  type Tenant,
} from '@svc-asr/testing/service/service.ts';

const MEDIAN_MAX_MS = 100;
/** One close may meet a busy machine. Without the fix every one takes 2 to 5 seconds. */
const EACH_MAX_MS = 1_000;
const SECOND_BYTES = 32_000;
const SAYS: ServiceOptions = { script: { texts: ['nĩ wega'] } };

interface Scene {
  readonly code: number;
  readonly reason: string;
  /** A service of its own with these options. Default: the service that scenes share. */
  readonly options?: ServiceOptions;
  readonly provoke: (
    stream: ForeignStream,
    at: { readonly svc: Service; readonly tenant: Tenant },
  ) => Promise<unknown>;
}

const INVALID_UTF8: Scene = {
  code: 1007,
  reason: 'invalid_utf8',
  provoke: (stream) => stream.sendInvalidUtf8?.() ?? Promise.reject(new Error('Not supported.')),
};

const SCENES: readonly Scene[] = [
  {
    code: 1000,
    reason: 'max_audio_reached',
    provoke: (stream) => stream.sendZeros(SECOND_BYTES * 2),
  },
  { code: 1008, reason: 'too_many_errors', provoke: (stream) => sendTexts(stream, 11) },
  { code: 1009, reason: 'message_too_large', provoke: (stream) => stream.sendZeros(65_537) },
  { code: 1011, reason: 'internal_error', provoke: async (_, { svc }) => svc.engine.crash() },
  {
    code: 1012,
    reason: 'service_restart',
    options: SAYS,
    provoke: async (_, { svc }) => void svc.stop(),
  },
  {
    code: 4403,
    reason: 'account_inactive',
    provoke: (_, { svc, tenant }) =>
      setAccountStatus(svc.database.pool, { id: tenant.accountId, status: 'suspended' }),
  },
  {
    code: 4408,
    reason: 'idle_timeout',
    options: { ...SAYS, parts: { streamLimits: { idleTimeoutMs: 300 } } },
    provoke: async () => {},
  },
  {
    code: 1013,
    reason: 'initialization_timeout',
    options: {
      script: { texts: [''], openMs: 60_000 },
      parts: { streamLimits: { initializationMs: 300 } },
    },
    provoke: async () => {},
  },
];

/**
 * Ends streams in every way and measures how long the client waits for the end of the connection. Returns the closes that
 * took too long.
 */
export async function slowCloses(
  client: ForeignClient,
  can = { sendsInvalidUtf8: false },
): Promise<ForeignClose[]> {
  const shared = await startService(SAYS);
  const scenes = can.sendsInvalidUtf8 ? [...SCENES, INVALID_UTF8] : SCENES;
  const closes: ForeignClose[] = [];
  for (const scene of scenes) {
    const svc = scene.options === undefined ? shared : await startService(scene.options);
    const close = await play(client, scene, svc);
    expect(close).toMatchObject({ code: scene.code, reason: scene.reason });
    closes.push(close);
    if (svc !== shared && scene.reason !== 'service_restart') await svc.stop();
  }
  await shared.stop();
  const ordered = closes.toSorted((a, b) => a.waitedMs - b.waitedMs);
  const median = ordered[closes.length >> 1]?.waitedMs ?? Infinity;
  return median < MEDIAN_MAX_MS ? ordered.filter(({ waitedMs }) => waitedMs > EACH_MAX_MS) : closes;
}

async function play(client: ForeignClient, scene: Scene, svc: Service): Promise<ForeignClose> {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 1 }, tenant);
  const stream = await client.open(svc.streamUrl, body.websocket_protocols);
  if (scene.reason !== 'initialization_timeout') await stream.received('ready');
  await scene.provoke(stream, { svc, tenant });
  return stream.closed;
}

async function sendTexts(stream: ForeignStream, count: number): Promise<void> {
  for (let at = 0; at < count; at += 1) await stream.sendText('{}');
}
