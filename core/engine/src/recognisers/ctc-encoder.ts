import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ONE_THREAD, type Compute } from '../compute.ts';
import type { Logits } from '../ctc/logits.ts';
import { FEATURES, STREAMED } from '../ctc/cached-features.ts';
import { createSession } from './onnx-session.ts';

/** Keys and values of earlier frames, by the inputs of a streamed model. */
export type Keys = Readonly<Record<string, Tensor>>;

/** Scores of a window, and what the model can use again. */
export interface Encoded extends Logits {
  /** Those of its samples. */
  readonly features: Float32Array;
  readonly keys: Keys;
}

/** What a window continues from. */
export interface Earlier {
  readonly features: Float32Array;
  /** How many of the features are context of the positional convolution only, and have no scores. */
  readonly contextFrames: number;
  readonly keys: Keys;
  /** Which keys and values to return: from the first to before the second, of those given and the new ones. */
  readonly keptKeys: readonly [number, number];
}

const NONE = new Float32Array();
const NOTHING: Earlier = { features: NONE, contextFrames: 0, keys: {}, keptKeys: [0, 0] };

/** ONNX Runtime with one offline CTC model: normalised samples in, scores out. */
export class CtcEncoder {
  /** Where it runs. */
  readonly device: 'cpu' | 'cuda';
  /** Numbers per frame that a caller may keep and give back. Zero where the model takes samples only. */
  readonly featureWidth: number;
  /** Whether it continues from keys and values too. */
  readonly isStreamed: boolean;
  /** Keys and values of no frames. */
  readonly #noKeys: Keys;
  readonly #session: InferenceSession;
  readonly #input: string;
  readonly #output: string;

  private constructor(session: InferenceSession, device: 'cpu' | 'cuda') {
    // Inputs and outputs of caches come after those of the model.
    const [input] = session.inputNames;
    const [output] = session.outputNames;
    if (input === undefined || output === undefined) {
      throw new RangeError('The CTC model has no input or no output.');
    }
    this.device = device;
    this.featureWidth = shapeOf(session, FEATURES.cached).at(-1) ?? 0;
    this.isStreamed = session.inputNames.includes(STREAMED.context);
    this.#noKeys = noKeysOf(session);
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

  /** Scores the frames of earlier features and the samples after them. */
  async run(samples: Float32Array<ArrayBuffer>, earlier = NOTHING): Promise<Encoded> {
    const { features, contextFrames, keys, keptKeys } = earlier;
    const feeds: Record<string, Tensor> = {
      [this.#input]: new Tensor('float32', samples, [1, samples.length]),
    };
    const wide = this.featureWidth;
    if (wide > 0) {
      feeds[FEATURES.cached] = new Tensor('float32', features, [1, features.length / wide, wide]);
    }
    if (this.isStreamed) {
      const [from, to] = keptKeys;
      Object.assign(feeds, this.#noKeys, keys);
      feeds[STREAMED.context] = count(contextFrames);
      feeds[STREAMED.from] = count(from);
      feeds[STREAMED.to] = count(to);
    }
    const answer = await this.#session.run(feeds);
    const output = answer[this.#output];
    if (!(output?.data instanceof Float32Array)) throw new RangeError('Logits must be float32.');
    const [, frames = 0, width = 0] = output.dims;
    const computed = answer[FEATURES.computed]?.data;
    return {
      logits: output.data,
      count: frames,
      width,
      features: computed instanceof Float32Array ? computed : NONE,
      keys: keysOf(answer),
    };
  }
}

function count(frames: number): Tensor {
  return new Tensor('int64', [BigInt(frames)], [1]);
}

/** The keys and values in an answer, by the inputs that take them. */
function keysOf(answer: InferenceSession.ReturnType): Keys {
  const kept = Object.entries(answer).filter(([name]) => name.startsWith(STREAMED.kept));
  return Object.fromEntries(
    kept.map(([name, tensor]) => [name.replace(STREAMED.kept, STREAMED.cached), tensor]),
  );
}

function noKeysOf(session: InferenceSession): Keys {
  const names = session.inputNames.filter((name) => name.startsWith(STREAMED.cached));
  return Object.fromEntries(
    names.map((name) => [name, new Tensor('float32', NONE, shapeOf(session, name))]),
  );
}

/** The shape of an input, with zero where it isn't fixed. Empty if there is no such input. */
function shapeOf(session: InferenceSession, name: string): number[] {
  const input = session.inputMetadata.find((one) => one.name === name);
  const shape = input?.isTensor === true ? input.shape : [];
  return shape.map((size) => (typeof size === 'number' ? size : 0));
}
