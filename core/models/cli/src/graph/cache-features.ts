import { open, readFile, rename, rm } from 'node:fs/promises';
import { CtcEncoder } from '@svc-asr/engine';
import { withCachedFeatures, withFeatures } from './cached-graph.ts';

const RATE = 16_000;
const FRAME_SAMPLES = 320;
/** Largest difference of features from those of a whole window: that of 32-bit sums in another order. */
const FEATURE_TOLERANCE = 1e-4;
/** Largest difference of scores. With 8-bit weights, a last digit that is rounded otherwise grows from layer to layer. */
const SCORE_TOLERANCE = 0.05;

/**
 * Rewrites an offline CTC model so that live streams compute the features of each sample once, and returns a sentence about
 * what it did. A model that differs when its features are computed in parts stays as it is.
 */
export async function cacheFeatures(path: string): Promise<string> {
  const rewritten = `${path}.cached`;
  try {
    const problem = await rewrite(path, rewritten);
    if (problem === null) return 'Live streams will compute the features of each sample once.';
    return `Live streams will compute the features of overlapping windows again: ${problem}.`;
  } finally {
    await rm(rewritten, { force: true });
  }
}

/** Returns why the model can't be rewritten. */
async function rewrite(path: string, rewritten: string): Promise<string | null> {
  const model = await readFile(path);
  const samples = sound(2 * RATE);
  try {
    const showing = withFeatures(model);
    if (showing === null) return 'it has no features that could be kept';
    const whole = await (await load(rewritten, showing)).run(samples);
    const width = whole.features.length / whole.count;
    const caching = Number.isInteger(width) ? withCachedFeatures(model, width) : null;
    if (caching === null) return 'its features have other frames than its scores';
    const encoder = await load(rewritten, caching);
    const first = await encoder.run(samples.slice(0, RATE));
    const rest = samples.slice(first.count * FRAME_SAMPLES);
    const second = await encoder.run(rest, first.features);
    const features = [...first.features, ...second.features];
    if (difference(features, whole.features) > FEATURE_TOLERANCE) {
      return 'its features depend on audio before and after them';
    }
    const { logits } = await encoder.run(samples);
    if (difference(logits, whole.logits) > SCORE_TOLERANCE) return 'its scores would change';
  } catch (error) {
    return `running it failed (${error instanceof Error ? error.message : String(error)})`;
  }
  await rename(rewritten, path);
  return null;
}

async function load(path: string, parts: readonly Uint8Array[]): Promise<CtcEncoder> {
  const file = await open(path, 'w');
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
  return CtcEncoder.load(path);
}

/** The largest difference, in shares of the largest value. Infinite if there aren't as many values. */
function difference(values: ArrayLike<number>, wanted: Float32Array): number {
  if (values.length !== wanted.length) return Infinity;
  let [largest, furthest] = [0, 0];
  for (const [at, one] of wanted.entries()) {
    largest = Math.max(largest, Math.abs(one));
    furthest = Math.max(furthest, Math.abs((values[at] ?? NaN) - one));
  }
  return furthest / largest;
}

/** Tones that come and go, of about unit variance. */
function sound(length: number): Float32Array<ArrayBuffer> {
  return Float32Array.from({ length }, (_, at) => {
    const tones = Math.sin(at / 9) + Math.sin(at / 23.7) + Math.sin(at * at * 1e-5);
    return tones * (1 + 0.8 * Math.sin(at / 3000));
  });
}
