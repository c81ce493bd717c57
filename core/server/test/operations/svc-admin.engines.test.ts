import { createScriptedEngine, startEngineNode, type EngineNode } from '@svc-asr/engine';
import { afterEach, expect, test } from 'vitest';
import { runAdmin } from '../../src/admin/program.ts';

const nodes: EngineNode[] = [];
afterEach(async () => {
  for (const node of nodes.splice(0)) await node.close();
});

/** Starts a node whose weights have this name. */
async function startNode(build: string): Promise<string> {
  const engine = createScriptedEngine({ capacity: 7, build });
  const node = await startEngineNode({ engine, address: '127.0.0.1:0', tls: null });
  nodes.push(node);
  return `127.0.0.1:${node.port}`;
}

async function admin(env: Record<string, string>, ...words: string[]) {
  const output = { out: '', err: '' };
  const status = await runAdmin(words, {
    env,
    devFolder: '/nonexistent',
    out: (text) => void (output.out += text),
    err: (text) => void (output.err += text),
  });
  return { status, ...output };
}

test('engines lists nodes with their builds, slots and state, without a database', async () => {
  const old = await startNode('demo-1');
  const next = await startNode('demo-2');
  const gone = '127.0.0.1:1';
  const env = { ENGINE_ADDRESSES: [old, next, gone].join(',') };
  const { status, out } = await admin(env, 'engines', '--json');
  expect(status).toBe(0);
  expect(JSON.parse(out)).toEqual([
    { address: old, state: 'serving', builds: 'demo-1', slots: 7, used: 0, lag_ms: 0 },
    { address: next, state: 'serving', builds: 'demo-2', slots: 7, used: 0, lag_ms: 0 },
    { address: gone, state: expect.any(String), builds: '', slots: 0, used: 0, lag_ms: 0 },
  ]);
  expect(JSON.parse(out)[2].state).not.toBe('serving');
});

test('engines explains what to configure when there are no nodes', async () => {
  expect(await admin({}, 'engines')).toMatchObject({
    status: 2,
    err: expect.stringContaining('ENGINE_ADDRESSES'),
  });
});
