import { InferenceSession, Tensor } from 'onnxruntime-node';
import { expect } from 'vitest';
import { HOP_SAMPLES, type Silero } from '../src/index.ts';
import { readSileroWeights } from '../src/silero/silero-weights.ts';

const CONTEXT_SAMPLES = 64;
/** The limits of the detector. A verdict that differs is on their other side. */
const LIMITS = [0.5, 0.6, 0.8];

/** Expects the same verdicts as ONNX Runtime's with the same weights. */
export async function expectReference(
  silero: Silero,
  waves: readonly Int16Array[],
): Promise<{ hops: number; difference: number }> {
  const session = await InferenceSession.create(await readSileroWeights());
  const sr = new Tensor('int64', BigInt64Array.from([16_000n]), []);
  let [hops, difference] = [0, 0];
  for (const samples of waves) {
    const input = new Float32Array(CONTEXT_SAMPLES + HOP_SAMPLES);
    const own = new Float32Array(256);
    let state: Tensor = new Tensor('float32', own.slice(), [2, 1, 128]);
    for (let at = 0; at + HOP_SAMPLES <= samples.length; at += HOP_SAMPLES) {
      input.copyWithin(0, HOP_SAMPLES);
      input.set(
        Array.from(samples.subarray(at, at + HOP_SAMPLES), (value) => value / 32_768),
        CONTEXT_SAMPLES,
      );
      const answer = await session.run({
        input: new Tensor('float32', input, [1, 576]),
        state,
        sr,
      });
      state = answer['stateN'] ?? state;
      const expected = Number(answer['output']?.data[0]);
      const found = silero.examine(input, own)[0] ?? 0;
      expect(LIMITS.map((limit) => found >= limit)).toEqual(
        LIMITS.map((limit) => expected >= limit),
      );
      difference = Math.max(difference, Math.abs(found - expected));
      hops += 1;
    }
  }
  return { hops, difference };
}
