import { afterAll, expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { startServiceBehindProxy } from '../support/service-behind-proxy.ts';

const { svc, proxy, stop } = await startServiceBehindProxy();
afterAll(stop);

test.each(['cut', 'silent'] as const)(
  'U01 S19 H03 returns 503 within 2.5 s while the database is %s, and recovers',
  async (state) => {
    expect((await svc.usage()).status).toBe(200);
    proxy.set(state);
    const began = performance.now();
    const { status, body } = await svc.request('/v1/usage', {
      headers: { authorization: `Bearer ${svc.apiKey}` },
    });
    expect(performance.now() - began).toBeLessThan(2_500);
    expect(status).toBe(503);
    expect(body.error).toMatchObject({ type: 'api_error', code: 'service_unavailable' });
    expect((await svc.models()).status).toBe(200);
    proxy.set('open');
    await eventually(async () => (await svc.usage()).status === 200);
  },
);
