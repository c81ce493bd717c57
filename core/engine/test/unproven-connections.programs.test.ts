import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { recognise } from '@svc-asr/testing/speech/event-reader.ts';
import { afterAll, afterEach, expect, test } from 'vitest';
import { ROLE_NAME } from '../src/grpc/protocol.ts';
import {
  createScriptedEngine,
  startEngineNode,
  startRivaEngine,
  type EngineNode,
  type PeerNotice,
  type RivaEngine,
} from '../src/index.ts';
import { UNPROVEN } from '../src/node/unproven-connections.ts';

/** What a stranger who reaches the port of an engine node, without a certificate, can hold. */

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku';
const ca = await PrivateCa.create();
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => ca.remove());

async function startNode(isSecure: boolean, proveWithinMs?: number): Promise<EngineNode> {
  const node = await startEngineNode({
    engine: createScriptedEngine({ script: { texts: [TEXT] } }),
    address: '127.0.0.1:0',
    tls: isSecure ? await ca.issue(ROLE_NAME.engine) : null,
    ...(proveWithinMs === undefined ? {} : { proveWithinMs }),
  });
  closers.push(() => node.close());
  return node;
}

async function startGateway(
  node: EngineNode,
  isSecure: boolean,
  notices: PeerNotice[] = [],
): Promise<RivaEngine> {
  const engine = await startRivaEngine({
    addresses: `127.0.0.1:${node.port}`,
    tls: isSecure ? await ca.issue(ROLE_NAME.gateway) : null,
    readyWithinMs: 10_000,
    onNotice: (notice) => notices.push(notice),
  });
  closers.push(() => engine.close());
  return engine;
}

async function silentConnection(node: EngineNode, localAddress: string): Promise<Socket> {
  const socket = connect({ port: node.port, host: '127.0.0.1', localAddress });
  socket.on('error', () => undefined);
  closers.push(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

test.each([true, false])(
  'closes connections on which no gateway calls, and keeps those of gateways (TLS: %s)',
  async (isSecure) => {
    const node = await startNode(isSecure, 1_000);
    const notices: PeerNotice[] = [];
    const gateway = await startGateway(node, isSecure, notices);
    const atStart = [...notices];
    const stranger = await silentConnection(node, '127.0.0.1');
    await once(stranger.resume(), 'close');
    expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
    // The gateway came first, so its connections would have been closed first.
    expect(notices).toEqual(atStart);
  },
);

test('holds few connections without a call: the address with most of them gives way', async () => {
  const node = await startNode(true);
  const quiet = await silentConnection(node, '127.0.0.3');
  const flood: Socket[] = [];
  while (flood.length < UNPROVEN.sockets + 50)
    flood.push(await silentConnection(node, '127.0.0.2'));
  const open = () => flood.filter(({ closed }) => !closed).length;
  for (const socket of flood) socket.resume();
  await eventually(() => open() <= UNPROVEN.sockets);
  expect(await recognise(await startGateway(node, true), MODEL)).toEqual([TEXT]);
  expect(open()).toBeGreaterThan(0);
  expect(quiet.closed).toBe(false);
});
