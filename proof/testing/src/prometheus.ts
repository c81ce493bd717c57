import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killOnExit } from '@svc-asr/local/child-process.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { eventually } from './eventually.ts';

export interface Sample {
  readonly metric: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly values: readonly (readonly [atSeconds: number, value: number])[];
}

interface Answer<Result> {
  readonly status: string;
  readonly error?: string;
  readonly data: { readonly result: readonly Result[] };
}

/** Debian's Prometheus with its own configuration and rules. */
export class Prometheus {
  readonly url: string;
  readonly #folder: string;
  readonly #process: ChildProcess;

  private constructor(input: { url: string; folder: string; process: ChildProcess }) {
    this.url = input.url;
    this.#folder = input.folder;
    this.#process = input.process;
  }

  /** Files by name; `prometheus.yml` is the configuration. */
  static async start(files: Readonly<Record<string, string>>): Promise<Prometheus> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-prometheus-'));
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
    const port = await freePort();
    const child = spawn(
      'prometheus',
      [
        `--config.file=${join(folder, 'prometheus.yml')}`,
        `--storage.tsdb.path=${join(folder, 'data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    killOnExit(child);
    const started = new Prometheus({ url: `http://127.0.0.1:${port}`, folder, process: child });
    const ended = once(child, 'exit').then(() => {
      throw new Error('Prometheus exited. See its output for the reason.');
    });
    await Promise.race([started.#ready(), ended]);
    ended.catch(() => {});
    return started;
  }

  async query(promql: string): Promise<Sample[]> {
    const result = await this.#ask<{ metric: Sample['metric']; value: [number, string] }>(
      `query?${new URLSearchParams({ query: promql })}`,
    );
    return result.map(({ metric, value }) => ({ metric, value: Number(value[1]) }));
  }

  async range(
    promql: string,
    seconds: { from: number; to: number; step: number },
  ): Promise<Series[]> {
    const { from, to, step } = seconds;
    const search = { query: promql, start: String(from), end: String(to), step: String(step) };
    const result = await this.#ask<{ metric: Series['metric']; values: [number, string][] }>(
      `query_range?${new URLSearchParams(search)}`,
    );
    return result.map(({ metric, values }) => ({
      metric,
      values: values.map(([at, value]) => [at, Number(value)]),
    }));
  }

  /** Returns the names of firing alerts. */
  async firing(): Promise<Set<string>> {
    const alerts = await this.query('ALERTS{alertstate="firing"}');
    return new Set(alerts.map(({ metric }) => alertName(metric)));
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #ask<Result>(path: string): Promise<readonly Result[]> {
    const response = await fetch(`${this.url}/api/v1/${path}`);
    const answer: Answer<Result> = JSON.parse(await response.text());
    if (answer.status !== 'success') throw new Error(answer.error);
    return answer.data.result;
  }

  async #ready(): Promise<void> {
    await eventually(() =>
      fetch(`${this.url}/-/ready`).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
  }
}

/** The name of an alert, with the objective of those that name one. */
export function alertName({ alertname = '', slo }: Sample['metric']): string {
  return slo === undefined ? alertname : `${alertname} ${slo}`;
}
