import { appendSamples } from '../append-samples.ts';
import { CTC_FRAME_SAMPLES } from '../ctc/logits.ts';
import { normalised, statisticsOf, type Statistics } from '../ctc/normalise.ts';
import type { AudioWindows, EncodedWindow, Frames } from './audio-windows.ts';
import type { Encoded, Keys } from './ctc-encoder.ts';
import { WINDOW_SAMPLES_MIN, type CtcModel } from './ctc-model.ts';

/** The part of a model that continues from cached features. */
type Continues = Pick<CtcModel, 'continue' | 'featureWidth' | 'isStreamed'>;

/** What the convolutions need for one frame. */
const FRAME_SAMPLES_MIN = 400;

/** Frames before a window that its positional convolution reads. Models whose convolution reads more are not streamed. */
const POSITIONS_BEFORE = 64;

/**
 * Computes the features of each sample once and keeps them for later windows. Samples are normalised with the mean and the
 * variance of the utterance so far, because features that were computed before can't be normalised again.
 *
 * A streamed model also keeps the keys and values of each frame as they were when the frame became final, so earlier frames
 * are not encoded again.
 */
export class CachedWindows implements AudioWindows {
  readonly #model: Continues;
  readonly #leftFrames: number;
  #audio = new Float32Array(0);
  /** Features of the frames before #audio, and the first of them. */
  #features = new Float32Array(0);
  #featuresFrom = 0;
  #keys: Keys = {};
  #statistics: Statistics = statisticsOf(new Float32Array(0));

  constructor(model: Continues, leftFrames: number) {
    this.#model = model;
    this.#leftFrames = leftFrames;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
  }

  async encode(to: number, frames: Frames): Promise<EncodedWindow> {
    const { window, featuresFrom, statistics, encoded } = await this.#run(to, frames);
    const wide = this.#model.featureWidth;
    const unused = (featuresFrom - this.#featuresFrom) * wide;
    this.#audio = this.#audio.subarray((encoded.features.length / wide) * CTC_FRAME_SAMPLES);
    this.#features = appendSamples(this.#features.subarray(unused), encoded.features);
    this.#featuresFrom = featuresFrom;
    this.#statistics = statistics;
    this.#keys = encoded.keys;
    return window;
  }

  async look(to: number, { keptFrames }: Pick<Frames, 'keptFrames'>): Promise<EncodedWindow> {
    return (await this.#run(to, { keptFrames, keepTo: keptFrames })).window;
  }

  async #run(to: number, { keptFrames, keepTo }: Frames): Promise<Run> {
    const { featureWidth: wide, isStreamed } = this.#model;
    const from = (this.#featuresFrom + this.#features.length / wide) * CTC_FRAME_SAMPLES;
    const fresh = this.#audio.subarray(0, Math.max(0, to - from));
    const uncounted = fresh.subarray(Math.max(0, this.#statistics.count - from));
    const statistics = statisticsOf(uncounted, this.#statistics);
    const lengthMin = from === 0 ? WINDOW_SAMPLES_MIN : FRAME_SAMPLES_MIN;
    const leftFrames = isStreamed ? POSITIONS_BEFORE : this.#leftFrames;
    const featuresFrom = Math.max(0, keptFrames - leftFrames);
    const keysTo = Math.min(keptFrames, this.#leftFrames) + keepTo - keptFrames;
    const encoded = await this.#model.continue(normalised(fresh, statistics, lengthMin), {
      features: this.#features.subarray((featuresFrom - this.#featuresFrom) * wide),
      contextFrames: keptFrames - featuresFrom,
      keys: this.#keys,
      keptKeys: [Math.max(0, keysTo - this.#leftFrames), keysTo],
    });
    const firstFrame = isStreamed ? keptFrames : featuresFrom;
    const samples = to - firstFrame * CTC_FRAME_SAMPLES;
    const window = { logits: encoded, firstFrame, samples };
    return { window, featuresFrom, statistics, encoded };
  }
}

interface Run {
  readonly window: EncodedWindow;
  /** The first frame whose features were used. */
  readonly featuresFrom: number;
  readonly statistics: Statistics;
  readonly encoded: Encoded;
}
