import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Agent, request } from 'node:https';
import { killOnExit } from '@svc-asr/local/child-process.ts';
import type { TestCertificate } from './certificate.ts';

const CONFIG = fileURLToPath(new URL('../../../deploy/haproxy/haproxy.cfg', import.meta.url));
const EDGE_CONFIG = fileURLToPath(new URL('../../../deploy/cells/edge.cfg', import.meta.url));

export interface Proxy {
  readonly url: string;
  /** Reads the files again. The old process keeps its open streams. */
  reload(): void;
  stop(): Promise<void>;
}

/** Runs the bundled configuration in front of two nodes. */
export async function startHaproxy(input: {
  certificate: TestCertificate;
  port: number;
  nodes: readonly [string, string];
}): Promise<Proxy> {
  const [first = '', second = ''] = input.nodes.map((url) => new URL(url).host);
  return start({ ...input, files: [CONFIG], env: { SVC_NODE_1: first, SVC_NODE_2: second } });
}

/** Runs the bundled edge in front of the cells in `folder`. */
export function startEdge(input: {
  certificate: TestCertificate;
  port: number;
  folder: string;
}): Promise<Proxy> {
  const files = [EDGE_CONFIG, join(input.folder, 'backends')];
  return start({ ...input, files, env: { SVC_EDGE: input.folder } });
}

async function start(input: {
  certificate: TestCertificate;
  port: number;
  files: readonly string[];
  env: Readonly<Record<string, string>>;
}): Promise<Proxy> {
  const { port } = input;
  const files = input.files.flatMap((file) => ['-f', file]);
  // A master process with a worker, as in production. It can be reloaded.
  const haproxy = spawn('haproxy', ['-W', '-db', ...files], {
    stdio: ['ignore', 'ignore', 'inherit'],
    env: {
      PATH: process.env['PATH'],
      SVC_BIND: `127.0.0.1:${port}`,
      SVC_CERT: input.certificate.pemFile,
      ...input.env,
    },
  });
  killOnExit(haproxy);
  const exited = once(haproxy, 'exit');
  const url = `https://127.0.0.1:${port}`;
  await Promise.race([
    untilReady(url, input.certificate),
    exited.then(() => {
      throw new Error('HAProxy exited. See its output for the reason.');
    }),
  ]);
  return {
    url,
    reload() {
      haproxy.kill('SIGUSR2');
    },
    async stop() {
      haproxy.kill('SIGTERM');
      await exited;
    },
  };
}

async function untilReady(url: string, certificate: TestCertificate): Promise<void> {
  const agent = new Agent({ ca: certificate.cert, keepAlive: false });
  for (;;) {
    const status = await new Promise<number>((resolve) => {
      request(`${url}/readyz`, { agent }, (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      })
        .on('error', () => resolve(0))
        .end();
    });
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
