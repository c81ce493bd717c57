import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { BareAnswer, BareOrder } from './bare-main.ts';

/** Asks the bare recogniser in its own process. */
export class Bare {
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
  }

  static async start(): Promise<Bare> {
    const bare = fork(new URL('./bare-main.ts', import.meta.url));
    await once(bare, 'message');
    return new Bare(bare);
  }

  async recognise(order: BareOrder): Promise<BareAnswer> {
    const answered = Promise.withResolvers<BareAnswer>();
    this.#process.once('message', (answer: BareAnswer) => answered.resolve(answer));
    this.#process.once('exit', () => answered.reject(new Error('The bare recogniser ended.')));
    this.#process.send(order);
    return answered.promise;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
