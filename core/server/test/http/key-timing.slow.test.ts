import { assembleApiKey } from '@svc-asr/runtime/api-key.ts';
import { generateApiKey } from '../../src/accounts/keys/format.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { afterAll, expect, test } from 'vitest';

const PROBES = 100;
const svc = await startService();
afterAll(() => svc.stop());

async function probeMs(apiKey: string): Promise<number> {
  const startedAtMs = performance.now();
  const { status } = await svc.usage({ apiKey });
  expect(status).toBe(401);
  return performance.now() - startedAtMs;
}

/** How often a value of the first list is above one of the second: 0.5 when they can't be told apart. */
function rankOf(first: readonly number[], second: readonly number[]): number {
  const above = first.flatMap((one) => second.map((other) => Number(one > other)));
  return above.reduce((sum, count) => sum + count, 0) / above.length;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;
}

test('a wrong secret takes as long for a known key id in use as for an unknown one', async () => {
  // Recently used, so its row is cached: the case that differs most from an unknown id.
  expect((await svc.usage()).status).toBe(200);
  const known: number[] = [];
  const unknown: number[] = [];
  for (let probe = 0; probe < PROBES; probe += 1) {
    known.push(await probeMs(assembleApiKey(svc.keyId, 'x'.repeat(32))));
    unknown.push(await probeMs(generateApiKey().key));
  }
  const figures = { known: median(known), unknown: median(unknown), rank: rankOf(known, unknown) };
  // Chance alone stays within 0.15 of 0.5 for this many probes.
  expect(figures.rank, JSON.stringify(figures)).toBeGreaterThan(0.35);
  expect(figures.rank, JSON.stringify(figures)).toBeLessThan(0.65);
});
