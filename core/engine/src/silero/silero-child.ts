import { fork, type ChildProcess } from 'node:child_process';
import { extname } from 'node:path';
import type { SileroAnswer, SileroQuestion } from './silero-messages.ts';

/** Same extension as this file: source in development, compiled in an image. */
const CHILD_MAIN = new URL(`./silero-main${extname(import.meta.filename)}`, import.meta.url);
const LEAVE_MS_MAX = 1_000;

export interface SileroChildInput {
  readonly onReady: () => void;
  readonly onAnswer: (probabilities: readonly Float32Array[]) => void;
  /** Called once, when the process is gone. */
  readonly onGone: () => void;
}

/** One child process with the model. */
export class SileroChild {
  readonly #process: ChildProcess;
  readonly #exited: Promise<void>;

  constructor({ onReady, onAnswer, onGone }: SileroChildInput) {
    this.#process = fork(CHILD_MAIN, {
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      // It gets none of our secrets.
      env: { PATH: process.env['PATH'] },
      execArgv: [],
    });
    this.#process.on('message', (answer: SileroAnswer) => {
      if (answer.type === 'ready') onReady();
      else onAnswer(answer.probabilities);
    });
    const gone = Promise.withResolvers<void>();
    this.#exited = gone.promise;
    this.#process.once('exit', () => gone.resolve());
    // A process that could not be started has no exit.
    this.#process.on('error', () => gone.resolve());
    void gone.promise.then(onGone);
  }

  get pid(): number | undefined {
    return this.#process.pid;
  }

  ask(question: SileroQuestion): void {
    // A failed send means that the process is gone, which `onGone` reports.
    this.#process.send(question, () => {});
  }

  kill(): void {
    this.#process.kill('SIGKILL');
  }

  async close(): Promise<void> {
    if (this.#process.connected) this.#process.disconnect();
    const killer = setTimeout(() => this.kill(), LEAVE_MS_MAX);
    await this.#exited;
    clearTimeout(killer);
  }
}
