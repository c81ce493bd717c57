import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { BareAnswer, BareOrder } from './bare-main.ts';

/** Runs the bare recogniser in its own process and returns its result. */
export class Bare {
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.once('exit', () => this.#ended.abort(new Error('The bare recogniser ended.')));
  }

  static async start(): Promise<Bare> {
    const bare = new Bare(fork(new URL('./bare-main.ts', import.meta.url)));
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
