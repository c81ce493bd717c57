import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { PacedAnswer, PacedOrder } from './paced-main.ts';

/** Real-time clients of the streaming API, all in one process of their own. */
export class PacedClients {
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess) {
    this.#process = process;
    process.once('exit', () => this.#ended.abort(new Error('The clients ended.')));
  }

  static async start(): Promise<PacedClients> {
    const clients = new PacedClients(fork(new URL('./paced-main.ts', import.meta.url)));
    await once(clients.#process, 'message', { signal: clients.#ended.signal });
    return clients;
  }

  async order(order: PacedOrder): Promise<PacedAnswer> {
    const answered = once(this.#process, 'message', { signal: this.#ended.signal });
    this.#process.send(order);
    const [answer]: PacedAnswer[] = await answered;
    if (answer === undefined) throw new Error('The clients returned no result.');
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
