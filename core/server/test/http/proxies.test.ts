import { request } from 'node:http';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { STREAM_PATH } from '@svc-asr/protocol';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { heldClock } from '../support/fixed-clock.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';

type Ask = (svc: Service, forwarded: string) => Promise<number>;

async function askForModels(svc: Service, forwarded: string): Promise<number> {
  const headers = { 'x-forwarded-for': forwarded };
  return (await svc.request('/v1/models', { headers })).status;
}

async function upgradeWithoutCredential(svc: Service, forwarded: string): Promise<number> {
  const { port } = new URL(svc.url);
  const upgrade = request({
    port,
    path: STREAM_PATH,
    headers: {
      connection: 'Upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      'sec-websocket-protocol': 'svc.realtime.v1',
      'x-forwarded-for': forwarded,
    },
  });
  upgrade.end();
  const [response] = await once(upgrade, 'response');
  response.destroy();
  return response.statusCode;
}

async function statusesFrom(input: {
  trustedProxies: string;
  forwarded: readonly string[];
  ask?: Ask;
}) {
  const database = await createTestDatabase();
  const svc = await startService({
    database,
    env: {
      RATE_MODELS: '1',
      RATE_FAILED_UPGRADES: '1',
      TRUSTED_PROXIES: input.trustedProxies,
    },
    parts: { clock: heldClock },
  });
  try {
    const statuses: number[] = [];
    for (const address of input.forwarded) {
      statuses.push(await (input.ask ?? askForModels)(svc, address));
    }
    return statuses;
  } finally {
    await svc.stop();
    await database.drop();
  }
}

test('X-Forwarded-For is not believed when no proxy is trusted', async () => {
  const forwarded = ['192.0.2.1', '192.0.2.2'];
  expect(await statusesFrom({ trustedProxies: '', forwarded })).toEqual([200, 429]);
});

test('X-Forwarded-For of a peer that is not a trusted proxy is ignored', async () => {
  const forwarded = ['192.0.2.1', '192.0.2.2'];
  const trustedProxies = '10.0.0.0/8,198.51.100.7';
  expect(await statusesFrom({ trustedProxies, forwarded })).toEqual([200, 429]);
  const upgrades = { trustedProxies, forwarded, ask: upgradeWithoutCredential };
  expect(await statusesFrom(upgrades)).toEqual([401, 429]);
});

test('behind one proxy the last address counts, whatever the caller wrote before it', async () => {
  const forwarded = [
    '192.0.2.1',
    '192.0.2.2',
    '192.0.2.9, 192.0.2.1',
    '2001:db8::1',
    '2001:db8::2',
  ];
  const trustedProxies = '127.0.0.0/8';
  expect(await statusesFrom({ trustedProxies, forwarded })).toEqual([200, 200, 429, 200, 429]);
  const upgrades = { trustedProxies, forwarded, ask: upgradeWithoutCredential };
  expect(await statusesFrom(upgrades)).toEqual([401, 401, 429, 401, 429]);
});

test('behind two proxies the address before the last one counts', async () => {
  const forwarded = ['192.0.2.1, 10.1.2.3', '192.0.2.2, 10.1.2.3', '192.0.2.1, 10.9.9.9'];
  const trustedProxies = '127.0.0.1,10.0.0.0/8';
  expect(await statusesFrom({ trustedProxies, forwarded })).toEqual([200, 200, 429]);
});
