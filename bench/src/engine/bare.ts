import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import type { BareAnswer, BareOrder } from './bare-main.ts';
import type { Side } from './throughput.ts';

/** Runs a bare recogniser in its own process and returns its result. */
export class Bare {
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.once('exit', () => this.#ended.abort(new Error('The bare recogniser ended.')));
  }

  /** sherpa-onnx with the transducer of a models directory. */
  static start(modelsDir = MODELS_DIR): Promise<Bare> {
    return Bare.#fork('./bare-main.ts', modelsDir);
  }

  /** ONNX Runtime with the encoder of an offline CTC model. It returns no texts. */
  static startCtc(model: string): Promise<Bare> {
    return Bare.#fork('./bare-ctc-main.ts', model);
  }

  static async #fork(main: string, argument: string): Promise<Bare> {
    const bare = new Bare(fork(new URL(main, import.meta.url), [argument]));
    await once(bare.#process, 'message', { signal: bare.#ended.signal });
    return bare;
  }

  async recognise(order: BareOrder): Promise<BareAnswer> {
    const answered = once(this.#process, 'message', { signal: this.#ended.signal });
    this.#process.send(order);
    const [answer]: BareAnswer[] = await answered;
    if (answer === undefined) throw new Error('The bare recogniser returned no result.');
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}

export function bareSide(bare: Bare): Side {
  return async (plans) => (await bare.recognise(plans)).cpuMs;
}
