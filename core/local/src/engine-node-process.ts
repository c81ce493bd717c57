import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TlsFiles } from '@svc-asr/engine';
import { childrenOf, killOnExit } from './child-process.ts';
import { freePort } from './free-port.ts';

const MAIN = fileURLToPath(new URL('../../engine/src/node/main.ts', import.meta.url));
const MODELS_DIR =
  process.env['MODELS_DIR'] || fileURLToPath(new URL('../../models', import.meta.url));

export interface NodeProcessOptions {
  readonly tls?: TlsFiles;
  readonly slots?: number;
  readonly modelsDir?: string;
  readonly host?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Runs the node under another command, such as `ip netns exec NAME`. */
  readonly command?: readonly string[];
}

/** One svc-engine process that can be killed, stopped and started again at its address. */
export class EngineNodeProcess {
  readonly port: number;
  readonly address: string;
  /** All log lines, including those from before a restart. */
  readonly lines: string[] = [];
  readonly #options: NodeProcessOptions;
  #process: ChildProcess | null = null;

  private constructor(port: number, options: NodeProcessOptions) {
    this.port = port;
    this.#options = options;
    this.address = `${options.host ?? '127.0.0.1'}:${port}`;
  }

  static async start(options: NodeProcessOptions = {}): Promise<EngineNodeProcess> {
    const node = new EngineNodeProcess(await freePort(), options);
    await node.start();
    return node;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  /** Its recogniser processes. */
  children(): number[] {
    return childrenOf(this.pid);
  }

  async start(): Promise<void> {
    const { tls, slots, modelsDir = MODELS_DIR, env = {}, command = [] } = this.#options;
    const [file, ...words] = [...command, process.execPath, MAIN];
    const child = spawn(file, words, {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        PATH: process.env['PATH'],
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
        ENGINE_LISTEN: this.address,
        ENGINE_INSECURE: '1',
        ENGINE_CHILDREN: '1',
        MODELS_DIR: modelsDir,
        ...(slots === undefined ? {} : { ENGINE_SLOTS_PER_CHILD: String(slots) }),
        ...(tls === undefined ? {} : tlsEnvironment(tls)),
        ...env,
      },
    });
    this.#process = child;
    killOnExit(child);
    const listening = Promise.withResolvers<void>();
    createInterface({ input: child.stdout }).on('line', (line) => {
      this.lines.push(line);
      if (line.includes('"listening"')) listening.resolve();
    });
    child.once('exit', () => listening.reject(new Error(this.lines.slice(-3).join('\n'))));
    await listening.promise;
    // Later exits are intended.
    listening.promise.catch(() => {});
  }

  signal(signal: NodeJS.Signals): void {
    this.#process?.kill(signal);
  }

  /** Resolves with how long it took to exit. */
  async exited(): Promise<number> {
    const beganMs = performance.now();
    if (this.#process?.exitCode === null && this.#process.signalCode === null) {
      await once(this.#process, 'exit');
    }
    return performance.now() - beganMs;
  }

  /** Kills and restarts it, as a supervisor would. */
  async replace(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited();
    await this.start();
  }

  async stop(): Promise<void> {
    this.signal('SIGKILL');
    await this.exited();
  }
}

export function tlsEnvironment(tls: TlsFiles): Readonly<Record<string, string>> {
  return {
    ENGINE_TLS_CERT_FILE: tls.certFile,
    ENGINE_TLS_KEY_FILE: tls.keyFile,
    ENGINE_TLS_CA_FILE: tls.caFile,
  };
}
