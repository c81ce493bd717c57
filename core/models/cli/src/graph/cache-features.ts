import { open, readFile, rename, rm } from 'node:fs/promises';
import { CtcEncoder, type EncodedCtc } from '@svc-asr/engine';
import { STREAMED } from '@svc-asr/engine/cached-features.ts';
import { withCachedAttention, withCachedFeatures, withFeatures } from './cached-graph.ts';

const RATE = 16_000;
const FRAME_SAMPLES = 320;
/** Largest difference of features from those of a whole window: that of 32-bit sums in another order. */
const FEATURE_TOLERANCE = 1e-4;
/** Largest difference of scores. With 8-bit weights, a last digit that is rounded otherwise grows from layer to layer. */
const SCORE_TOLERANCE = 0.05;
/** The same for parts of a window, which have 8-bit scales of their own. */
const PART_TOLERANCE = 0.15;
/** Frames of the first part, and those of them that the positional convolution of the second may read. */
const FIRST = { frames: 70, context: 64 };

interface Model {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly samples: Float32Array<ArrayBuffer>;
  /** What it computes of all samples, with its keys and values. */
  readonly whole: EncodedCtc;
  /** Numbers per frame of its features. */
  readonly width: number;
}

/**
 * Rewrites an offline CTC model so that live streams compute the features of each sample once and, if they are to be
 * `streamed`, attend to the keys and values of earlier frames instead of encoding these again. Returns a sentence about what
 * it did. A model that differs when it is computed in parts stays as it is.
 */
export async function cacheFeatures(path: string, streamed = false): Promise<string> {
  try {
    const model = await readModel(path);
    const problem = typeof model === 'string' ? model : await keepFeatures(model);
    if (typeof model === 'string' || problem !== null) {
      return `Live streams will compute the features of overlapping windows again: ${problem}.`;
    }
    if (!streamed) return 'Live streams will compute the features of each sample once.';
    const limit = await keepAttention(model);
    if (limit === null) return 'Live streams will encode new audio only.';
    return `Live streams will compute the features of each sample once, and encode windows: ${limit}.`;
  } finally {
    await rm(trialOf(path), { force: true });
  }
}

/** Runs the model as it is. Returns why it can't be rewritten. */
async function readModel(path: string): Promise<Model | string> {
  try {
    const bytes = await readFile(path);
    const samples = sound(2 * RATE);
    const showing = withFeatures(bytes);
    if (showing === null) return 'it has no features that could be kept';
    const whole = await (await load(path, showing)).run(samples);
    const width = whole.features.length / whole.count;
    if (!Number.isInteger(width)) return 'its features have other frames than its scores';
    return { path, bytes, samples, whole, width };
  } catch (error) {
    return failed(error);
  }
}

/** Returns why the model can't be rewritten. */
async function keepFeatures({ path, bytes, samples, whole, width }: Model): Promise<string | null> {
  try {
    const encoder = await load(path, withCachedFeatures(bytes, width) ?? []);
    const first = await encoder.run(samples.slice(0, RATE));
    const rest = samples.slice(first.count * FRAME_SAMPLES);
    const second = await encoder.run(rest, { ...first, contextFrames: 0, keptKeys: [0, 0] });
    const features = [...first.features, ...second.features];
    if (difference(features, whole.features) > FEATURE_TOLERANCE) {
      return 'its features depend on audio before and after them';
    }
    const { logits } = await encoder.run(samples);
    if (difference(logits, whole.logits) > SCORE_TOLERANCE) return 'its scores would change';
  } catch (error) {
    return failed(error);
  }
  await rename(trialOf(path), path);
  return null;
}

/**
 * Attention sees every frame, so the second part of the samples must score as in the whole if it continues from keys and
 * values that the whole has for the first. Returns why the model can't be rewritten.
 */
async function keepAttention(model: Model): Promise<string | null> {
  const { path, bytes, samples, whole, width } = model;
  const count = Object.keys(whole.keys).length;
  const shapes = Array.from({ length: count }, (_, at) => {
    return whole.keys[`${STREAMED.cached}${at}`]?.dims ?? [];
  });
  try {
    const streaming = withCachedAttention(bytes, { width, shapes });
    if (streaming === null) return 'it has no attention with keys and values that could be kept';
    const encoder = await load(path, streaming);
    const { frames, context } = FIRST;
    const none = { features: new Float32Array(), contextFrames: 0, keys: {} };
    const { logits, keys } = await encoder.run(samples, { ...none, keptKeys: [0, frames] });
    const second = await encoder.run(samples.slice(frames * FRAME_SAMPLES), {
      features: whole.features.slice((frames - context) * width, frames * width),
      contextFrames: context,
      keys,
      keptKeys: [0, 0],
    });
    const wanted = whole.logits.subarray(frames * whole.width);
    const isSame =
      difference(logits, whole.logits) <= SCORE_TOLERANCE &&
      difference(second.logits, wanted) <= PART_TOLERANCE;
    if (!isSame) return 'its scores depend on more than features, keys and values';
  } catch (error) {
    return failed(error);
  }
  await rename(trialOf(path), path);
  return null;
}

function failed(error: unknown): string {
  return `running it failed (${error instanceof Error ? error.message : String(error)})`;
}

function trialOf(path: string): string {
  return `${path}.cached`;
}

async function load(path: string, parts: readonly Uint8Array[]): Promise<CtcEncoder> {
  const file = await open(trialOf(path), 'w');
  try {
    for (const part of parts) await file.writeFile(part);
  } finally {
    await file.close();
  }
  return CtcEncoder.load(trialOf(path));
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
