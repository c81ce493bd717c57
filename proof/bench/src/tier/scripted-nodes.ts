import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { TlsFiles } from '@svc-asr/engine';
import { MeasuredProcess } from '../measured-process.ts';
import type { PortAnswer, PortOrder } from './port-main.ts';

/** Engine nodes without recognisers, each in its own process. */
export class ScriptedNodes {
  readonly addresses: string;
  readonly pids: readonly number[];
  readonly #processes: readonly ChildProcess[];

  private constructor(processes: readonly ChildProcess[], ports: readonly number[]) {
    this.#processes = processes;
    this.addresses = ports.map((port) => `127.0.0.1:${port}`).join(',');
    this.pids = processes.map(({ pid }) => pid ?? 0);
  }

  static async start(count: number, tls: TlsFiles): Promise<ScriptedNodes> {
    const main = new URL('./scripted-node-main.ts', import.meta.url);
    const processes = Array.from({ length: count }, () => fork(main, [JSON.stringify(tls)]));
    const ports = await Promise.all(
      processes.map(async (process): Promise<number> => {
        const [port]: number[] = await once(process, 'message');
        return port ?? 0;
      }),
    );
    return new ScriptedNodes(processes, ports);
  }

  async stop(): Promise<void> {
    await Promise.all(
      this.#processes.map(async (process) => {
        const exited = once(process, 'exit');
        process.kill('SIGKILL');
        await exited;
      }),
    );
  }
}

/** Runs live speakers against an engine in a new process. Throws when that process fails. */
export async function runSpeakers(order: PortOrder): Promise<PortAnswer> {
  const main = new URL('./port-main.ts', import.meta.url);
  const speakers = await MeasuredProcess.start<PortOrder, PortAnswer>(main);
  const answer = await speakers.run(order);
  await speakers.stop();
  return answer;
}
