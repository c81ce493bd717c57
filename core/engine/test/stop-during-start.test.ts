import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { text } from 'node:stream/consumers';
import { childrenOf } from '@svc-asr/local/child-process.ts';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { MODELS_DIR } from '@svc-asr/testing/speech/fixtures.ts';
import { expect, test } from 'vitest';

const MAIN = fileURLToPath(new URL('../src/node/main.ts', import.meta.url));

/** A default action would end this process too, but the first process of a container has none: it needs the handler. */
test('SIGTERM ends an engine node whose recogniser is still loading, through a handler', async () => {
  const node = spawn(process.execPath, [MAIN], {
    env: {
      PATH: process.env['PATH'],
      ENGINE_LISTEN: '127.0.0.1:0',
      ENGINE_CHILDREN: '1',
      MODELS_DIR,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await eventually(() => childrenOf(node.pid ?? 0).length > 0);
  node.kill('SIGTERM');
  const [output, error, [status, signal]] = await Promise.all([
    text(node.stdout),
    text(node.stderr),
    once(node, 'exit'),
  ]);
  expect(output).not.toContain('listening');
  expect(error).toBe('SIGTERM during the start. Stopped.\n');
  expect({ status, signal }).toEqual({ status: 0, signal: null });
});
