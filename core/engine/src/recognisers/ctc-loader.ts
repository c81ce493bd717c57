import { ONE_THREAD, type Compute } from '../compute.ts';
import { CtcModel, type OfflineCtcFiles } from './ctc-model.ts';
import { CtcRecogniser } from './ctc-recogniser.ts';
import { loadScorer, type Decoding } from '../ctc/decoding.ts';

/** Loads recognisers. Weights that several of them use, with different language models, are loaded once. */
export class CtcLoader {
  readonly #models = new Map<string, CtcModel>();

  async load(input: {
    readonly files: OfflineCtcFiles;
    readonly decoding?: Decoding;
    /** Chunks of audio per window. */
    readonly stepChunks?: number;
    readonly compute?: Compute;
  }): Promise<CtcRecogniser> {
    const { files, decoding, compute = ONE_THREAD, stepChunks = 1 } = input;
    const key = JSON.stringify([files.model, files.tokens]);
    const model = this.#models.get(key) ?? (await CtcModel.load(files, compute));
    this.#models.set(key, model);
    const search =
      decoding === undefined ? null : { scorer: await loadScorer(decoding), settings: decoding };
    return CtcRecogniser.measure(model, search, { stepChunks, threads: compute.threads });
  }
}
