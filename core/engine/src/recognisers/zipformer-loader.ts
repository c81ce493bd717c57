import { loadScorer, type Decoding } from '../ctc/decoding.ts';
import type { WeightFiles } from './sherpa-recogniser.ts';
import { ZipformerModel } from './zipformer-model.ts';
import { ZipformerRecogniser } from './zipformer-recogniser.ts';

/** Loads recognisers. Weights that several of them use, with different language models, are loaded once. */
export class ZipformerLoader {
  readonly #models = new Map<string, ZipformerModel>();

  async load(input: {
    readonly files: WeightFiles;
    readonly decoding: Decoding;
    readonly chunkFrames: number;
    readonly threads?: number;
  }): Promise<ZipformerRecogniser> {
    const { files, decoding, chunkFrames, threads = 1 } = input;
    const key = JSON.stringify(files);
    const known = this.#models.get(key);
    const model = known ?? (await ZipformerModel.load(files, { chunkFrames, threads }));
    this.#models.set(key, model);
    const search = { scorer: await loadScorer(decoding), settings: decoding };
    return ZipformerRecogniser.measure(model, search, threads);
  }
}
