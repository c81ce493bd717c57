import { expect, test } from 'vitest';
import { continuedAfter, InterruptedRun } from './interrupted-run.ts';

const MOMENTS_MS = [1, 400, 1_000, 2_300, 3_700, 4_000, 5_100, 6_600, 9_000, 12_000];

test('Ctrl-C at ten moments: each run continues, no file shrinks, and no audio is charged twice', async () => {
  const run = await InterruptedRun.start({ turns: 150 });
  const result = await continuedAfter(run, MOMENTS_MS);
  expect(result).toMatchObject({ status: 'done', audio_ms: run.audioMs });
  await run.end();
});
