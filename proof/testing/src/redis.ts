import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { eventually } from './eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';

export interface TestRedis {
  readonly url: string;
  /** Stops answering without closing connections, like a hung machine. */
  hang(): void;
  resume(): void;
  stop(): Promise<void>;
}

/** A Redis server that writes nothing to disk. */
export async function startRedis(
  options: { readonly port?: number; readonly password?: string } = {},
): Promise<TestRedis> {
  const own = options.port ?? (await freePort());
  const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
  if (options.password !== undefined) settings.push('--requirepass', options.password);
  const redis = spawn('redis-server', ['--port', String(own), ...settings], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(redis, 'exit');
  await Promise.race([
    eventually(() => accepts(own)),
    exited.then(() => {
      throw new Error('redis-server exited. Is it installed? Run .ci/bootstrap.');
    }),
  ]);
  return {
    url: `redis://127.0.0.1:${own}`,
    hang: () => void redis.kill('SIGSTOP'),
    resume: () => void redis.kill('SIGCONT'),
    async stop() {
      redis.kill('SIGKILL');
      await exited;
    },
  };
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    socket.once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}
