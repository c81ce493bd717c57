import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { killOnExit } from './child-process.ts';

const MAIN = fileURLToPath(
  new URL('../../../clients/integrations/compatible/src/main.ts', import.meta.url),
);

/** One svc-compatible process in front of a service. */
export class CompatibleProcess {
  /** Such as `http://127.0.0.1:3002`. */
  readonly url: string;
  /** All lines of its standard error after the first. */
  readonly lines: string[];
  readonly #process: ChildProcess;

  private constructor(input: { url: string; lines: string[]; process: ChildProcess }) {
    this.url = input.url;
    this.lines = input.lines;
    this.#process = input.process;
  }

  static async start(input: {
    readonly baseUrl: string;
    readonly args?: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
  }): Promise<CompatibleProcess> {
    const { baseUrl, args = ['--port', '0'], env = {} } = input;
    const child = spawn(process.execPath, [MAIN, ...args], {
      stdio: ['ignore', 'inherit', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        SVC_BASE_URL: baseUrl,
        ...env,
      },
    });
    killOnExit(child);
    const lines: string[] = [];
    const first = Promise.withResolvers<string>();
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.startsWith('http')) first.resolve(line);
      else lines.push(line);
    });
    child.once('exit', () => first.reject(new Error(lines.join('\n'))));
    const url = await first.promise;
    return new CompatibleProcess({ url, lines, process: child });
  }

  get pid(): number {
    return this.#process.pid ?? 0;
  }

  signal(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  /** Resolves with the exit code. Null: a signal ended it. */
  async exited(): Promise<number | null> {
    if (this.#process.exitCode === null && this.#process.signalCode === null) {
      await once(this.#process, 'exit');
    }
    return this.#process.exitCode;
  }

  async stop(): Promise<void> {
    this.signal('SIGTERM');
    await this.exited();
  }
}
