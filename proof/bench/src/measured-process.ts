import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';

/** In the process itself: reports that it is ready, and then answers one order at a time, until its parent is gone. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what its parent sends
export function answerOrders<Order>(work: (order: Order) => Promise<unknown>): void {
  process.on('message', (order: Order) => {
    void work(order).then((answer) => process.send?.(answer));
  });
  process.on('disconnect', () => process.exit(0));
  process.send?.('ready');
}

/** A process of its own whose CPU time is measured apart. It reports that it is ready, and then answers one order at a time. */
export class MeasuredProcess<Order extends object, Answer> {
  readonly pid: number;
  readonly #process: ChildProcess;
  readonly #ended = new AbortController();

  private constructor(process: ChildProcess, main: URL) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    process.once('exit', () => this.#ended.abort(new Error(`${main.pathname} ended.`)));
  }

  static async start<Order extends object, Answer>(
    main: URL,
    args: readonly string[] = [],
  ): Promise<MeasuredProcess<Order, Answer>> {
    const started = new MeasuredProcess<Order, Answer>(fork(main, args), main);
    await once(started.#process, 'message', { signal: started.#ended.signal });
    return started;
  }

  async run(order: Order): Promise<Answer> {
    const answered = once(this.#process, 'message', { signal: this.#ended.signal });
    this.#process.send(order);
    const [answer]: Answer[] = await answered;
    if (answer === undefined) throw new Error('The process returned no result.');
    return answer;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.disconnect();
    await exited;
  }
}
