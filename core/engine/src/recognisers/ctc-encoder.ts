import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ONE_THREAD, type Compute } from '../compute.ts';
import type { Logits } from '../ctc/logits.ts';
import { FEATURES } from '../ctc/cached-features.ts';
import { createSession } from './onnx-session.ts';

/** Scores of a window, and the features of its samples if the model can use them again. */
export interface Encoded extends Logits {
  readonly features: Float32Array;
}

const NONE = new Float32Array();

/** ONNX Runtime with one offline CTC model: normalised samples in, scores out. */
export class CtcEncoder {
  /** Where it runs. */
  readonly device: 'cpu' | 'cuda';
  /** Numbers per frame that a caller may keep and give back. Zero where the model takes samples only. */
  readonly featureWidth: number;
  readonly #session: InferenceSession;
  readonly #input: string;
  readonly #output: string;

  private constructor(session: InferenceSession, device: 'cpu' | 'cuda') {
    const input = session.inputNames.find((name) => name !== FEATURES.cached);
    const output = session.outputNames.find((name) => name !== FEATURES.computed);
    if (input === undefined || output === undefined) {
      throw new RangeError('The CTC model has no input or no output.');
    }
    this.device = device;
    this.featureWidth = featureWidthOf(session);
    this.#session = session;
    this.#input = input;
    this.#output = output;
  }

  static async load(path: string, compute: Compute = ONE_THREAD): Promise<CtcEncoder> {
    const { device, threads } = compute;
    if (device === 'cpu') return new CtcEncoder(await createSession(path, threads), 'cpu');
    try {
      return new CtcEncoder(await createSession(path, threads, ['cuda', 'cpu']), 'cuda');
    } catch (error) {
      if (device === 'cuda-or-cpu') return CtcEncoder.load(path, { device: 'cpu', threads });
      const reason = error instanceof Error ? error.message : String(error);
      throw new RangeError(
        `ENGINE_DEVICE=cuda, but ONNX Runtime cannot use a GPU here: ${reason}. Use cuda-or-cpu or cpu.`,
      );
    }
  }

  /** Scores the frames of `cached` features and the samples after them. */
  async run(samples: Float32Array<ArrayBuffer>, cached: Float32Array = NONE): Promise<Encoded> {
    const feeds = { [this.#input]: new Tensor('float32', samples, [1, samples.length]) };
    const wide = this.featureWidth;
    if (wide > 0) {
      feeds[FEATURES.cached] = new Tensor('float32', cached, [1, cached.length / wide, wide]);
    }
    const answer = await this.#session.run(feeds);
    const output = answer[this.#output];
    if (!(output?.data instanceof Float32Array)) throw new RangeError('Logits must be float32.');
    const [, count = 0, width = 0] = output.dims;
    const features = answer[FEATURES.computed]?.data;
    return {
      logits: output.data,
      count,
      width,
      features: features instanceof Float32Array ? features : NONE,
    };
  }
}

function featureWidthOf(session: InferenceSession): number {
  const cached = session.inputMetadata.find(({ name }) => name === FEATURES.cached);
  const width = cached?.isTensor === true ? cached.shape[2] : 0;
  return typeof width === 'number' ? width : 0;
}
