import { SvcClient } from '@svc-asr/sdk';
import { expect, test } from 'vitest';
import { Calls, CALLS_MAX } from './calls.ts';
import { BridgeMetrics } from './metrics.ts';

test('takes a thousand connections and no more, until one is closed', () => {
  const client = new SvcClient({
    baseUrl: 'http://127.0.0.1:9',
    apiKey: `svc_live_v1_${'A'.repeat(50)}`,
  });
  const calls = new Calls(
    { client, model: 'svc-asr-kikuyu-v1', onEvent: () => undefined },
    new BridgeMetrics(),
  );
  const input = { query: new URLSearchParams(), close: () => undefined };
  const open = Array.from({ length: CALLS_MAX }, (_, at) => {
    expect([at, calls.isFull]).toEqual([at, false]);
    return calls.connect('twilio', input);
  });
  expect(calls.isFull).toBe(true);
  open[0]?.onClosed();
  expect(calls.isFull).toBe(false);
  for (const { onClosed } of open) onClosed();
});
