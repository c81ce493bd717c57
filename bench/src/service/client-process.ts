import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** Clients in a process of their own. It reports that it is ready, and then answers one order at a time. */
export class ClientProcess<Order extends object, Answer> {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    process.once('exit', () => this.#ended.abort(new Error('The clients ended.')));
  }

  static async start<Order extends object, Answer>(
    main: URL,
  ): Promise<ClientProcess<Order, Answer>> {
    const clients = new ClientProcess<Order, Answer>(fork(main));
    await once(clients.#process, 'message', { signal: clients.#ended.signal });
    return clients;
  }

  async run(order: Order): Promise<Answer> {
    const answered = once(this.#process, 'message', { signal: this.#ended.signal });
    this.#process.send(order);
    const [answer]: Answer[] = await answered;
    if (answer === undefined) throw new Error('The clients returned no result.');
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
