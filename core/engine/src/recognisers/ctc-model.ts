import { readFile } from 'node:fs/promises';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { ONE_THREAD } from '../compute.ts';
import { CTC_FRAME_SAMPLES, type Logits } from '../ctc/logits.ts';
import { parseCtcTokens, type CtcTokens } from '../ctc/tokens.ts';
import { CtcEncoder } from './ctc-encoder.ts';

export interface OfflineCtcFiles {
  readonly model: string;
  readonly tokens: string;
}

/** Shorter input is padded with silence: the first convolutions need 400 samples. */
const WINDOW_SAMPLES_MIN = AUDIO.sampleRateHz / 10;
const VARIANCE_FLOOR = 1e-5;

/** An offline CTC model in memory: samples in, the scores of each frame out. */
export class CtcModel {
  readonly tokens: CtcTokens;
  readonly #encoder: CtcEncoder;

  private constructor(encoder: CtcEncoder, tokens: CtcTokens) {
    this.#encoder = encoder;
    this.tokens = tokens;
  }

  /** Loads the weights. Throws a RangeError if they don't belong to the wav2vec2 family. */
  static async load(files: OfflineCtcFiles, compute = ONE_THREAD): Promise<CtcModel> {
    const tokens = parseCtcTokens(await readFile(files.tokens, 'utf8'));
    if (typeof tokens === 'string') throw new RangeError(tokens);
    const model = new CtcModel(await CtcEncoder.load(files.model, compute), tokens);
    await model.#checkFrameRate();
    return model;
  }

  async run(samples: Float32Array): Promise<Logits> {
    const logits = await this.#encoder.run(normalise(samples));
    if (logits.width === this.tokens.texts.length) return logits;
    throw new RangeError(
      `The model has ${logits.width} labels, tokens ${this.tokens.texts.length}.`,
    );
  }

  async #checkFrameRate(): Promise<void> {
    const second = AUDIO.sampleRateHz;
    const [short, long] = [
      await this.run(new Float32Array(second)),
      await this.run(new Float32Array(2 * second)),
    ];
    const frames = long.count - short.count;
    if (frames * CTC_FRAME_SAMPLES === second) return;
    throw new RangeError(`The model outputs ${frames} frames per second; it must output 50.`);
  }
}

/**
 * Zero mean and unit variance over the window, as in training. Plain loops: iterators would take a tenth of the encoder's
 * time.
 */
function normalise(samples: Float32Array): Float32Array<ArrayBuffer> {
  const count = samples.length;
  const window = new Float32Array(Math.max(count, WINDOW_SAMPLES_MIN));
  let sum = 0;
  for (let at = 0; at < count; at += 1) sum += samples[at] ?? 0;
  const mean = sum / Math.max(1, count);
  let squares = 0;
  for (let at = 0; at < count; at += 1) squares += ((samples[at] ?? 0) - mean) ** 2;
  const scale = 1 / Math.sqrt(squares / Math.max(1, count) + VARIANCE_FLOOR);
  for (let at = 0; at < count; at += 1) window[at] = ((samples[at] ?? 0) - mean) * scale;
  return window;
}
