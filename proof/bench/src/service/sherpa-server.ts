import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { loadManifests } from '@svc-asr/engine';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { freePort } from '@svc-asr/local/free-port.ts';

/** The same version as the library that our engine uses. */
const PACKAGE = 'sherpa-onnx-bin==1.13.8';
const HOME = join(tmpdir(), `svc-sherpa-${PACKAGE.split('==')[1]}`);

/** sherpa-onnx's own WebSocket server with our weights and one decoding thread, like our engine's one process. */
export class SherpaServer {
  readonly pid: number;
  readonly url: string;
  readonly #process: ChildProcess;

  private constructor(process: ChildProcess, port: number) {
    this.#process = process;
    this.pid = process.pid ?? 0;
    this.url = `ws://127.0.0.1:${port}`;
  }

  static async start(): Promise<SherpaServer> {
    await install();
    const manifest = (await loadManifests(MODELS_DIR)).get('svc-asr-kikuyu-v1');
    if (manifest?.kind !== 'transducer') throw new Error('There is no transducer.');
    const { encoder, decoder, joiner, tokens } = manifest.files;
    const port = await freePort();
    const args = [
      `--port=${port}`,
      '--num-work-threads=1',
      '--num-io-threads=1',
      '--max-batch-size=32',
      '--loop-interval-ms=10',
      '--enable-endpoint=false',
      '--end-tail-padding=1.3',
      `--encoder=${encoder}`,
      `--decoder=${decoder}`,
      `--joiner=${joiner}`,
      `--tokens=${tokens}`,
    ];
    const server = spawn(join(HOME, 'bin/sherpa-onnx-online-websocket-server'), args, {
      stdio: 'ignore',
      cwd: HOME,
    });
    const started = new SherpaServer(server, port);
    await untilOpen(port);
    return started;
  }

  async stop(): Promise<void> {
    const exited = once(this.#process, 'exit');
    this.#process.kill('SIGKILL');
    await exited;
  }
}

async function install(): Promise<void> {
  if (existsSync(join(HOME, 'bin/sherpa-onnx-online-websocket-server'))) return;
  const run = promisify(execFile);
  await run('python3', ['-m', 'venv', HOME]);
  await run(join(HOME, 'bin/pip'), ['install', '-q', PACKAGE]);
}

async function untilOpen(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (isOpen) return;
    await sleep(50);
  }
}
