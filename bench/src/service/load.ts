import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { LoadAnswer, LoadOrder } from './load-main.ts';

/** Runs the clients in their own process. */
export class Load {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    process.once('exit', () => this.#ended.abort(new Error('The clients ended.')));
  }

  static async start(): Promise<Load> {
    const load = new Load(fork(new URL('./load-main.ts', import.meta.url)));
    await once(load.#process, 'message', { signal: load.#ended.signal });
    return load;
  }

  async run(order: LoadOrder): Promise<LoadAnswer> {
    const answered = once(this.#process, 'message', { signal: this.#ended.signal });
    this.#process.send(order);
    const [answer]: LoadAnswer[] = await answered;
    if (answer === undefined) throw new Error('The clients returned no result.');
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
