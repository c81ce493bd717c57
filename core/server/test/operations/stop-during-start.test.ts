import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { listen } from '@svc-asr/runtime/listen.ts';

const MAIN = join(import.meta.dirname, '../../src/main.ts');

/** A default action would end this process too, but the first process of a container has none: it needs the handler. */
test('SIGTERM ends a service that is still waiting for its database, through a handler', async () => {
  const database = createServer();
  const port = await listen(database);
  const secret = Buffer.alloc(32, 7).toString('base64');
  const child = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      HOST: '127.0.0.1',
      PORT: '0',
      ROLE: 'api',
      DATABASE_URL: `postgres://nobody@127.0.0.1:${port}/nowhere`,
      PUBLIC_STREAM_URL: 'wss://localhost',
      API_KEY_PEPPER: secret,
      SESSION_SIGNING_KEYS: `1:${secret}`,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  database.once('connection', (socket) => {
    socket.on('error', () => {});
    child.kill('SIGTERM');
  });
  const [error, [status, signal]] = await Promise.all([text(child.stderr), once(child, 'exit')]);
  database.close();
  expect(error).toBe('SIGTERM during the start. Stopped.\n');
  expect({ status, signal }).toEqual({ status: 0, signal: null });
});
