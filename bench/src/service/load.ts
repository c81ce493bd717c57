import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { LoadAnswer, LoadOrder } from './load-main.ts';

/** The clients' process. */
export class Load {
  readonly pid: number;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid ?? 0;
  }

  static async start(): Promise<Load> {
    const clients = fork(new URL('./load-main.ts', import.meta.url));
    await once(clients, 'message');
    return new Load(clients);
  }

  async run(order: LoadOrder): Promise<LoadAnswer> {
    const answered = Promise.withResolvers<LoadAnswer>();
    this.#process.once('message', (answer: LoadAnswer) => answered.resolve(answer));
    this.#process.once('exit', () => answered.reject(new Error('The clients ended.')));
    this.#process.send(order);
    return answered.promise;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
