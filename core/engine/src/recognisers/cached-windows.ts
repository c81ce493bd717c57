import { appendSamples } from '../append-samples.ts';
import { CTC_FRAME_SAMPLES } from '../ctc/logits.ts';
import { normalised, statisticsOf, type Statistics } from '../ctc/normalise.ts';
import type { AudioWindows, EncodedWindow } from './audio-windows.ts';
import type { Encoded } from './ctc-encoder.ts';
import { WINDOW_SAMPLES_MIN, type CtcModel } from './ctc-model.ts';

/** The part of a model that continues from cached features. */
type Continues = Pick<CtcModel, 'continue' | 'featureWidth'>;

/** What the convolutions need for one frame. */
const FRAME_SAMPLES_MIN = 400;

/**
 * Computes the features of each sample once and keeps them for later windows. Samples are normalised with the mean and the
 * variance of the utterance so far, because features that were computed before can't be normalised again.
 */
export class CachedWindows implements AudioWindows {
  readonly #model: Continues;
  readonly #leftFrames: number;
  #audio = new Float32Array(0);
  /** Features of the frames before #audio, and the first of them. */
  #features = new Float32Array(0);
  #featuresFrom = 0;
  #statistics: Statistics = statisticsOf(new Float32Array(0));

  constructor(model: Continues, leftFrames: number) {
    this.#model = model;
    this.#leftFrames = leftFrames;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
  }

  async encode(to: number, keptFrames: number): Promise<EncodedWindow> {
    const { window, statistics, encoded } = await this.#run(to, keptFrames);
    const wide = this.#model.featureWidth;
    const unused = (window.firstFrame - this.#featuresFrom) * wide;
    this.#audio = this.#audio.subarray((encoded.features.length / wide) * CTC_FRAME_SAMPLES);
    this.#features = appendSamples(this.#features.subarray(unused), encoded.features);
    this.#featuresFrom = window.firstFrame;
    this.#statistics = statistics;
    return window;
  }

  async look(to: number, keptFrames: number): Promise<EncodedWindow> {
    return (await this.#run(to, keptFrames)).window;
  }

  async #run(
    to: number,
    keptFrames: number,
  ): Promise<{ window: EncodedWindow; statistics: Statistics; encoded: Encoded }> {
    const wide = this.#model.featureWidth;
    const from = (this.#featuresFrom + this.#features.length / wide) * CTC_FRAME_SAMPLES;
    const fresh = this.#audio.subarray(0, Math.max(0, to - from));
    const uncounted = fresh.subarray(Math.max(0, this.#statistics.count - from));
    const statistics = statisticsOf(uncounted, this.#statistics);
    const lengthMin = from === 0 ? WINDOW_SAMPLES_MIN : FRAME_SAMPLES_MIN;
    const firstFrame = Math.max(0, keptFrames - this.#leftFrames);
    const cached = this.#features.subarray((firstFrame - this.#featuresFrom) * wide);
    const encoded = await this.#model.continue(normalised(fresh, statistics, lengthMin), cached);
    const samples = to - firstFrame * CTC_FRAME_SAMPLES;
    return { window: { logits: encoded, firstFrame, samples }, statistics, encoded };
  }
}
