import { expect, test } from 'vitest';
import { addUp } from './add-up.ts';

test('adds up the days of each key and model, largest first, and loses nothing', () => {
  const line = { model: 'svc-asr-kikuyu-v1', key_name: 'server', sessions: 1 } as const;
  const sums = addUp([
    { ...line, day: '2027-01-01', key_id: null, key_name: null, billable_ms: 1_000 },
    { ...line, day: '2027-01-01', key_id: 'a', billable_ms: 2_000 },
    { ...line, day: '2027-01-02', key_id: 'a', billable_ms: 3_000 },
    { ...line, day: '2027-01-02', key_id: 'a', model: 'svc-asr-dholuo-v1', billable_ms: 500 },
  ]);
  expect(
    sums.map(({ keyId, model, billableMs, sessions }) => [keyId, model, billableMs, sessions]),
  ).toEqual([
    ['a', 'svc-asr-kikuyu-v1', 5_000, 2],
    [null, 'svc-asr-kikuyu-v1', 1_000, 1],
    ['a', 'svc-asr-dholuo-v1', 500, 1],
  ]);
});
