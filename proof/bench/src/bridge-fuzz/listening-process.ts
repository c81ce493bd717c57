import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { killOnExit } from '@svc-asr/local/child-process.ts';

const START_MS_MAX = 120_000;
const LINES_KEPT = 200;

/** A Node program of this repository that listens, started as its users start it. */
export class ListeningProcess {
  readonly name: string;
  /** The first match of `ready` in its output. */
  readonly greeting: RegExpExecArray;
  readonly lines: string[];
  readonly #process: ChildProcess;

  private constructor(input: {
    name: string;
    greeting: RegExpExecArray;
    lines: string[];
    process: ChildProcess;
  }) {
    this.name = input.name;
    this.greeting = input.greeting;
    this.lines = input.lines;
    this.#process = input.process;
  }

  static async start(input: {
    name: string;
    program: string;
    args?: readonly string[];
    env?: Readonly<Record<string, string>>;
    /** Matched against all of its output so far. */
    ready: RegExp;
  }): Promise<ListeningProcess> {
    const { PATH, NODE_COMPILE_CACHE, HOME } = process.env;
    const child = spawn(process.execPath, [input.program, ...(input.args ?? [])], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, HOME, ...input.env },
    });
    killOnExit(child);
    const lines: string[] = [];
    const ready = Promise.withResolvers<RegExpExecArray>();
    for (const output of [child.stdout, child.stderr]) {
      createInterface({ input: output }).on('line', (line) => {
        if (lines.push(line) > LINES_KEPT) lines.shift();
        const greeting = input.ready.exec(lines.join('\n'));
        if (greeting !== null) ready.resolve(greeting);
      });
    }
    const fail = (): void =>
      ready.reject(new Error(`${input.name} did not start:\n${lines.slice(-5).join('\n')}`));
    child.once('exit', fail);
    const patience = setTimeout(fail, START_MS_MAX);
    const greeting = await ready.promise;
    clearTimeout(patience);
    return new ListeningProcess({ name: input.name, greeting, lines, process: child });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  get hasEnded(): boolean {
    return this.#process.exitCode !== null || this.#process.signalCode !== null;
  }

  async stop(): Promise<void> {
    if (this.hasEnded) return;
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    const patience = setTimeout(() => this.#process.kill('SIGKILL'), 5_000);
    await exited;
    clearTimeout(patience);
  }
}
