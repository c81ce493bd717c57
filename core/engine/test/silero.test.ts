import { afterAll, beforeAll, expect, test } from 'vitest';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import {
  HOP_SAMPLES,
  Silero,
  SileroConfirmer,
  SileroStream,
  type VoiceVerdicts,
} from '../src/index.ts';

const SPOKEN = new Int16Array(speech('kikuyu-1').pcm.slice().buffer);
const OTHER = new Int16Array(speech('dholuo-1').pcm.slice().buffer);

let silero: Silero;
beforeAll(async () => {
  silero = await Silero.load();
});

async function alone(samples: Int16Array): Promise<Float32Array> {
  const [found] = await silero.probabilities([{ stream: new SileroStream(), samples }]);
  return found ?? new Float32Array();
}

test('hears speech, and neither silence nor a telephone tone', async () => {
  expect(Math.max(...(await alone(SPOKEN)))).toBeGreaterThan(0.9);
  expect(Math.max(...(await alone(new Int16Array(16_000))))).toBe(0);
  const tone = Int16Array.from({ length: 32_000 }, (_, at) =>
    at < 8_000 ? 0 : Math.round(6_000 * Math.sin((2 * Math.PI * 425 * at) / 16_000)),
  );
  expect(Math.max(...(await alone(tone)))).toBeLessThan(0.5);
});

test('gives a stream the same verdicts in a batch and in parts as alone', async () => {
  const expected = await alone(SPOKEN);
  expect(expected).toHaveLength(Math.floor(SPOKEN.length / HOP_SAMPLES));
  const [stream, other] = [new SileroStream(), new SileroStream()];
  const found: number[] = [];
  for (let at = 0; at < SPOKEN.length; at += 1_111) {
    const [part = []] = await silero.probabilities([
      { stream, samples: SPOKEN.subarray(at, at + 1_111) },
      { stream: other, samples: OTHER.subarray(at, at + 1_111) },
    ]);
    found.push(...part);
  }
  expect(found).toHaveLength(expected.length);
  for (const [hop, probability] of found.entries()) {
    expect(Math.abs(probability - (expected[hop] ?? 2))).toBeLessThan(1e-3);
  }
});

test('streams go on without verdicts when the child is killed, and with them after it restarts', async () => {
  const losses: number[] = [];
  const confirmer = new SileroConfirmer({ onLost: ({ restartInMs }) => losses.push(restartInMs) });
  afterAll(() => confirmer.close());
  const listener = confirmer.open(1_000);
  await eventually(() => confirmer.pid !== null);
  const bytes = new Uint8Array(SPOKEN.slice().buffer);
  const first = await heard(listener.listen(bytes.subarray(0, 6_401)));
  expect(first).toMatchObject({ startSample: expect.any(Number) });
  process.kill(confirmer.pid ?? 0, 'SIGKILL');
  await eventually(() => losses.length > 0);
  expect(losses).toEqual([1_000]);
  expect(await listener.listen(bytes.subarray(6_401, 12_801))).toBeNull();
  await eventually(() => confirmer.pid !== null);
  const next = await heard(listener.listen(bytes.subarray(12_801, 20_001)));
  expect(next).not.toBeNull();
  expect(confirmer.counts()).toMatchObject({ restarts: 1 });

  /** On a busy machine an answer may be late. Then the same length of audio is asked about again. */
  async function heard(asked: Promise<VoiceVerdicts | null>): Promise<VoiceVerdicts | null> {
    let answer = await asked;
    await eventually(async () => {
      answer ??= await listener.listen(bytes.subarray(0, 6_400));
      return answer !== null;
    });
    return answer;
  }
});
