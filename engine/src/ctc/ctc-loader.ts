import { CtcModel, type OfflineCtcFiles } from './ctc-model.ts';
import { CtcRecogniser } from './ctc-recogniser.ts';
import { loadScorer, type Decoding } from './decoding.ts';

/** Loads recognisers. Weights that several of them use, with different language models, are loaded once. */
export class CtcLoader {
  readonly #models = new Map<string, CtcModel>();

  async load(input: { files: OfflineCtcFiles; decoding?: Decoding }): Promise<CtcRecogniser> {
    const { files, decoding } = input;
    const key = JSON.stringify([files.model, files.tokens]);
    const model = this.#models.get(key) ?? (await CtcModel.load(files));
    this.#models.set(key, model);
    if (decoding === undefined) return CtcRecogniser.measure(model, null);
    const scorer = await loadScorer(decoding);
    return CtcRecogniser.measure(model, { scorer, settings: decoding });
  }
}
