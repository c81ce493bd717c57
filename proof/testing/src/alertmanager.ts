import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { listen } from '@svc-asr/runtime/listen.ts';
import { killOnExit } from '@svc-asr/local/child-process.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { eventually } from './eventually.ts';
import { alertName } from './prometheus.ts';

const CONFIG = new URL('../../../deploy/monitoring/alertmanager.yml', import.meta.url);
const READY_WITHIN_MS = 30_000;

interface Notification {
  readonly receiver: string;
  readonly alerts: readonly {
    readonly status: 'firing' | 'resolved';
    readonly labels: Readonly<Record<string, string>>;
  }[];
}

/** Debian's Alertmanager with the configuration that ships. Its webhooks lead here, and its waits are short. */
export class Alertmanager {
  /** host:port, for Prometheus. */
  readonly target: string;
  readonly #notified: ReadonlySet<string>;
  readonly #stop: () => Promise<void>;

  private constructor(target: string, stop: () => Promise<void>, notified: Set<string>) {
    this.target = target;
    this.#stop = stop;
    this.#notified = notified;
  }

  static async start(): Promise<Alertmanager> {
    const notified = new Set<string>();
    const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
      const { receiver, alerts }: Notification = JSON.parse(await text(request));
      for (const { status, labels } of alerts) {
        notified.add(`${receiver} ${status} ${alertName(labels)}`);
      }
      response.end();
    };
    const webhook = createServer((request, response) => void receive(request, response));
    const port = await listen(webhook);
    const folder = await mkdtemp(join(tmpdir(), 'svc-alertmanager-'));
    const config = (await readFile(CONFIG, 'utf8'))
      .replaceAll('127.0.0.1:9095', `127.0.0.1:${port}`)
      .replaceAll(/^( +group_(?:wait|interval):) \w+$/gm, '$1 1s');
    await writeFile(join(folder, 'alertmanager.yml'), config);
    const target = `127.0.0.1:${await freePort()}`;
    const child = spawn(
      'prometheus-alertmanager',
      [
        `--config.file=${join(folder, 'alertmanager.yml')}`,
        `--storage.path=${join(folder, 'data')}`,
        `--web.listen-address=${target}`,
        '--cluster.listen-address=',
        '--log.level=error',
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    killOnExit(child);
    const stop = async (): Promise<void> => {
      child.kill('SIGKILL');
      webhook.close();
      await rm(folder, { recursive: true, force: true });
    };
    const isReady = (): Promise<boolean> =>
      fetch(`http://${target}/-/ready`).then(
        ({ status }) => status === 200,
        () => false,
      );
    await eventually(isReady, READY_WITHIN_MS, 50).catch(async (error: unknown) => {
      await stop();
      throw error;
    });
    return new Alertmanager(target, stop, notified);
  }

  /** Whether the receiver was notified that the alert fires, or that it is resolved. */
  hasNotified(receiver: string, status: 'firing' | 'resolved', alert: string): boolean {
    return this.#notified.has(`${receiver} ${status} ${alert}`);
  }

  stop(): Promise<void> {
    return this.#stop();
  }
}
