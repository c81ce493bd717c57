import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { ONE_THREAD, type Compute } from '../compute.ts';
import type { Logits } from '../ctc/logits.ts';
import { createSession } from './onnx-session.ts';

/** ONNX Runtime with one offline CTC model: a normalised window in, scores out. */
export class CtcEncoder {
  /** Where it runs. */
  readonly device: 'cpu' | 'cuda';
  readonly #session: InferenceSession;
  readonly #input: string;
  readonly #output: string;

  private constructor(session: InferenceSession, device: 'cpu' | 'cuda') {
    const [input] = session.inputNames;
    const [output] = session.outputNames;
    if (input === undefined || output === undefined) {
      throw new RangeError('The CTC model has no input or no output.');
    }
    this.device = device;
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
