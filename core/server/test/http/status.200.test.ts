import type { ServiceState, ServiceStatus } from '@svc-asr/protocol/service-status.ts';
import { afterAll, expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { DHOLUO, KIKUYU, startService } from '@svc-asr/testing/service/service.ts';
import { STATUS_FRESH_MS } from '../../src/http/status.ts';
import { startServiceBehindProxy } from '../support/service-behind-proxy.ts';

let nowMs = 0;
const clock = { monotonicMs: () => nowMs };
const { svc, proxy, database, stop } = await startServiceBehindProxy({ parts: { clock } });
afterAll(stop);

async function statusOf(url: string): Promise<ServiceStatus> {
  const response = await fetch(`${url}/status.json`);
  expect(response.status).toBe(200);
  expect(response.headers.get('cache-control')).toBe('public, max-age=5');
  const body: ServiceStatus = JSON.parse(await response.text());
  return body;
}

/** The report after the last one has become too old. */
async function freshStatus(): Promise<ServiceStatus> {
  nowMs += STATUS_FRESH_MS;
  return statusOf(svc.url);
}

function states({ components }: ServiceStatus): Record<string, ServiceState> {
  return Object.fromEntries(components.map(({ id, state }) => [id, state]));
}

const ALL_WELL = {
  api: 'operational',
  database: 'operational',
  [KIKUYU]: 'operational',
  [DHOLUO]: 'operational',
};

test('/status.json is operational while the API, the database and a recogniser per model are available', async () => {
  const status = await freshStatus();
  expect(states(status)).toEqual(ALL_WELL);
  expect(status.state).toBe('operational');
});

test('/status.json names no node, no address and no number of streams', async () => {
  const text = JSON.stringify(await freshStatus());
  expect(text).not.toContain(svc.config.nodeId);
  expect(text).not.toContain('node-1.example.com');
  expect(text).not.toMatch(/capacity|active/);
});

test('however many people ask, the probes run once in five seconds', async () => {
  const first = await freshStatus();
  const many = await Promise.all(Array.from({ length: 50 }, () => statusOf(svc.url)));
  expect(new Set(many.map(({ checked_at }) => checked_at))).toEqual(new Set([first.checked_at]));
  nowMs += STATUS_FRESH_MS - 1;
  expect((await statusOf(svc.url)).checked_at).toBe(first.checked_at);
  expect((await freshStatus()).checked_at).not.toBe(first.checked_at);
});

test.each(['cut', 'silent'] as const)(
  '/status.json is down within 2.5 s while the database is %s, and recovers',
  async (state) => {
    proxy.set(state);
    const began = performance.now();
    const status = await freshStatus();
    expect(performance.now() - began).toBeLessThan(2_500);
    expect(status.state).toBe('down');
    expect(states(status)).toMatchObject({ database: 'down', [KIKUYU]: 'down' });
    proxy.set('open');
    await eventually(async () => (await freshStatus()).state === 'operational');
  },
);

test('/status.json is degraded while the server drains', async () => {
  const leaving = await startService({ database });
  try {
    leaving.deps.lifecycle.draining = true;
    const status = await statusOf(leaving.url);
    expect(status.state).toBe('degraded');
    expect(states(status)['api']).toBe('degraded');
  } finally {
    await leaving.stop();
  }
});

test('/status.json is down without a streaming node', async () => {
  const alone = await startService({ env: { ROLE: 'api' } });
  try {
    const status = await statusOf(alone.url);
    expect(status.state).toBe('down');
    expect(states(status)).toMatchObject({ api: 'operational', [KIKUYU]: 'down' });
  } finally {
    await alone.stop();
  }
});
