import { readFile } from 'node:fs/promises';
import { AUDIO } from '@svc-asr/protocol/constants.ts';
import { ONE_THREAD } from '../compute.ts';
import { CTC_FRAME_SAMPLES, type Logits } from '../ctc/logits.ts';
import { normalised, statisticsOf } from '../ctc/normalise.ts';
import { parseCtcTokens, type CtcTokens } from '../ctc/tokens.ts';
import { CtcEncoder, type Earlier, type Encoded } from './ctc-encoder.ts';

export interface OfflineCtcFiles {
  readonly model: string;
  readonly tokens: string;
}

/** Shorter input is padded with silence: the first convolutions need 400 samples. */
export const WINDOW_SAMPLES_MIN = AUDIO.sampleRateHz / 10;

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

  /** Numbers per frame of the features that it can use again. Zero if it can't. */
  get featureWidth(): number {
    return this.#encoder.featureWidth;
  }

  /** Whether it continues from keys and values too. */
  get isStreamed(): boolean {
    return this.#encoder.isStreamed;
  }

  /** Scores a window on its own. */
  run(samples: Float32Array): Promise<Logits> {
    const statistics = statisticsOf(samples);
    return this.continue(normalised(samples, statistics, WINDOW_SAMPLES_MIN));
  }

  /** Scores the frames of earlier features and the normalised samples after them. */
  async continue(samples: Float32Array<ArrayBuffer>, earlier?: Earlier): Promise<Encoded> {
    const encoded = await this.#encoder.run(samples, earlier);
    if (encoded.width === this.tokens.texts.length) return encoded;
    throw new RangeError(
      `The model has ${encoded.width} labels, tokens ${this.tokens.texts.length}.`,
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
