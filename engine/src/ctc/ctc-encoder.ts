import { InferenceSession, Tensor } from 'onnxruntime-node';

/** Every model of the wav2vec2 family has frames of 20 ms. */
export const CTC_FRAME_SAMPLES = 320;

/** The scores of each frame of a window, row by row. */
export interface Logits {
  readonly logits: Float32Array;
  readonly count: number;
  readonly width: number;
}

/** ONNX Runtime with one offline CTC model: a normalised window in, scores out. */
export class CtcEncoder {
  readonly #session: InferenceSession;
  readonly #input: string;
  readonly #output: string;

  private constructor(session: InferenceSession) {
    const [input] = session.inputNames;
    const [output] = session.outputNames;
    if (input === undefined || output === undefined) {
      throw new RangeError('The CTC model has no input or no output.');
    }
    this.#session = session;
    this.#input = input;
    this.#output = output;
  }

  static async load(path: string): Promise<CtcEncoder> {
    const session = await InferenceSession.create(path, {
      executionProviders: ['cpu'],
      intraOpNumThreads: 1,
      interOpNumThreads: 1,
      graphOptimizationLevel: 'all',
    });
    return new CtcEncoder(session);
  }

  async run(window: Float32Array<ArrayBuffer>): Promise<Logits> {
    const answer = await this.#session.run({
      [this.#input]: new Tensor('float32', window, [1, window.length]),
    });
    const output = answer[this.#output];
    if (!(output?.data instanceof Float32Array)) throw new RangeError('Logits must be float32.');
    const [, count = 0, width = 0] = output.dims;
    return { logits: output.data, count, width };
  }
}
