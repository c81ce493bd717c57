import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { childrenOf, killOnExit } from '@svc-asr/local/child-process.ts';
import { STREAM_PATH } from '@svc-asr/protocol';

const MAIN = fileURLToPath(import.meta.resolve('@svc-asr/server/main.ts'));

/** A service process as in production, with its own memory and engine children. */
export class ServiceProcess {
  readonly pid: number;
  readonly url: string;
  readonly exited: Promise<unknown>;
  /** Its log lines. */
  readonly lines: string[];
  readonly #process: ChildProcess;

  private constructor(input: { process: ChildProcess; pid: number; url: string; lines: string[] }) {
    this.#process = input.process;
    this.pid = input.pid;
    this.url = input.url;
    this.lines = input.lines;
    this.exited = once(input.process, 'exit');
  }

  static async start(env: Readonly<Record<string, string>>, main = MAIN): Promise<ServiceProcess> {
    const { PATH, NODE_COMPILE_CACHE } = process.env;
    const child = spawn(process.execPath, [main], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { PATH, NODE_COMPILE_CACHE, NODE_ENV: 'production', ...env },
    });
    killOnExit(child);
    const lines: string[] = [];
    const listening = Promise.withResolvers<string>();
    createInterface({ input: child.stderr }).on('line', (line) => lines.push(line));
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const url = /"url":"([^"]+)".*"listening"/.exec(line)?.[1];
      if (url !== undefined) listening.resolve(url);
    });
    child.once('exit', () => listening.reject(new Error(lines.slice(-5).join('\n'))));
    const url = await listening.promise;
    return new ServiceProcess({ process: child, pid: child.pid ?? 0, url, lines });
  }

  get streamUrl(): string {
    return this.url.replace(/^http/, 'ws') + STREAM_PATH;
  }

  /** Process ids of its engine children. */
  children(): number[] {
    return childrenOf(this.pid);
  }

  kill(signal: NodeJS.Signals): void {
    this.#process.kill(signal);
  }

  async stop(): Promise<void> {
    if (this.#process.exitCode !== null || this.#process.signalCode !== null) return;
    this.kill('SIGTERM');
    await this.exited;
  }
}
