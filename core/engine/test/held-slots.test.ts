import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { credentials, makeClientConstructor, status, type StatusObject } from '@grpc/grpc-js';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { afterEach, expect, test } from 'vitest';
import { RECOGNITION_SERVICE } from '../src/grpc/protocol.ts';
import { serviceDefinition } from '../src/grpc/service-definitions.ts';
import {
  createScriptedEngine,
  EngineBusy,
  startEngineNode,
  startRivaEngine,
  withReplay,
  type Engine,
  type EngineNode,
  type EngineStream,
  type RivaEngine,
  type ScriptedEngine,
  type ScriptedOptions,
} from '../src/index.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku maitũ mothe';
const never = new AbortController().signal;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

interface Started {
  readonly node: EngineNode;
  readonly engine: ScriptedEngine;
  readonly address: string;
}

async function startNode(options: ScriptedOptions & { address?: string } = {}): Promise<Started> {
  const { address = '127.0.0.1:0', ...scripted } = options;
  const engine = createScriptedEngine({ script: { texts: [TEXT, TEXT] }, ...scripted });
  const node = await startEngineNode({ engine, address, tls: null });
  closers.push(() => node.close());
  return { node, engine, address: `127.0.0.1:${node.port}` };
}

async function startGateway(...addresses: string[]): Promise<RivaEngine> {
  const gateway = await startRivaEngine({ addresses: addresses.join(','), tls: null });
  closers.push(() => gateway.close());
  return gateway;
}

const open = (engine: Engine): Promise<EngineStream> =>
  engine.open({ model: MODEL, signal: never });

async function say(stream: EngineStream): Promise<string[]> {
  const reading = read(stream);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 4));
  stream.flush();
  return finals(await reading.until('final'));
}

test('two gateways never open more streams on a node than it has slots', async () => {
  const { node, address } = await startNode({ capacity: 3 });
  const gateways = [await startGateway(address), await startGateway(address)];
  // All at once, so that no load report can help.
  const opened = await Promise.allSettled(
    Array.from({ length: 8 }, (_, at) => open(gateways[at % 2] ?? fail())),
  );
  const streams = opened.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
  const refused = opened.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []));
  expect(streams).toHaveLength(3);
  expect(refused.every((error) => error instanceof EngineBusy)).toBe(true);
  expect(node.health()).toMatchObject({ active: 3, capacity: 3 });
  await eventually(() =>
    gateways.every((gateway) => gateway.health().active >= gateway.health().capacity),
  );
  // Every stream of every gateway speaks at the same time, in the next utterance too.
  for (let utterance = 0; utterance < 2; utterance += 1) {
    const said = await Promise.all(streams.map(say));
    expect(said.flat()).toEqual([TEXT, TEXT, TEXT]);
    await expect(open(gateways[0] ?? fail())).rejects.toThrow(EngineBusy);
    await expect(open(gateways[1] ?? fail())).rejects.toThrow(EngineBusy);
  }
  await streams[0]?.close();
  for (const gateway of gateways) {
    await eventually(() => gateway.health().active < gateway.health().capacity);
  }
});

test('a slot that one gateway frees is free for another', async () => {
  const { node, address } = await startNode({ capacity: 1 });
  const [one, other] = [await startGateway(address), await startGateway(address)];
  const first = await open(one);
  expect(await say(first)).toEqual([TEXT]);
  await expect(open(other)).rejects.toThrow(EngineBusy);
  await first.close();
  await eventually(() => other.health().capacity === 1);
  const second = await open(other);
  expect(await say(second)).toEqual([TEXT]);
  await second.close();
  await eventually(() => node.health().active === 0);
});

test('slots of a stream that is closed while it moves are free for the next streams', async () => {
  const { address } = await startNode({ capacity: 1 });
  const later = `127.0.0.1:${await freePort()}`;
  const gateway = await startGateway(address, later);
  const moving = await open(gateway);
  await startNode({ capacity: 2, address: later });
  await eventually(() => gateway.nodes().every(({ state }) => state === 'serving'));
  // The first audio moves it to the empty node.
  void moving.write(new Uint8Array(CHUNK_SAMPLES));
  await moving.close();
  const opened = await Promise.all(Array.from({ length: 3 }, () => open(gateway)));
  expect(gateway.health()).toMatchObject({ active: 3, capacity: 3 });
  for (const stream of opened) await stream.close();
});

test('an aborted open leaves no slot held', async () => {
  const { node, address } = await startNode({ capacity: 1 });
  const gateway = await startGateway(address);
  for (let times = 0; times < 5; times += 1) {
    const closing = new AbortController();
    const opening = gateway.open({ model: MODEL, signal: closing.signal });
    await Promise.resolve();
    await Promise.resolve();
    closing.abort();
    await expect(opening).rejects.toMatchObject({ name: 'AbortError' });
  }
  await eventually(() => node.health().active === 0);
  await (await open(gateway)).close();
});

test('a killed gateway frees its slots', async () => {
  const { node, address } = await startNode({ capacity: 2 });
  const child = fork(fileURLToPath(new URL('./gateway-in-own-process.ts', import.meta.url)), [
    address,
    '2',
  ]);
  closers.push(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  expect(node.health().active).toBe(2);
  const gateway = await startGateway(address);
  await eventually(() => gateway.health().capacity === 0);
  await expect(open(gateway)).rejects.toThrow(EngineBusy);
  child.kill('SIGKILL');
  await eventually(() => gateway.health().capacity === 2);
  expect(await say(await open(gateway))).toEqual([TEXT]);
});

test('a frozen gateway frees its slots after 15 s', async () => {
  const { node, address } = await startNode({ capacity: 1 });
  const child = fork(fileURLToPath(new URL('./gateway-in-own-process.ts', import.meta.url)), [
    address,
    '1',
  ]);
  closers.push(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  // Its connections stay open, as those of a machine that lost its network.
  child.kill('SIGSTOP');
  await expect.poll(() => node.health().active, { timeout: 40_000 }).toBe(0);
});

test('a client without held slots gets those that no gateway holds', async () => {
  const { address } = await startNode({ capacity: 2 });
  const stream = await open(await startGateway(address));
  const held = beginCall(address);
  await once(held.call, 'metadata');
  expect(await beginCall(address).ended).toMatchObject({ code: status.RESOURCE_EXHAUSTED });
  expect(await say(stream)).toEqual([TEXT]);
  held.call.end();
  expect(await held.ended).toMatchObject({ code: status.OK });
});

/** A call of any Riva client. */
function beginCall(address: string) {
  const Client = makeClientConstructor(serviceDefinition(RECOGNITION_SERVICE), 'Client');
  const client = new Client(address, credentials.createInsecure());
  closers.push(() => client.close());
  const method = serviceDefinition(RECOGNITION_SERVICE)['StreamingRecognize'];
  if (method === undefined) throw new Error('no method');
  const { path, requestSerialize, responseDeserialize } = method;
  const call = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize);
  call.on('data', () => {});
  call.on('error', () => {});
  const config = { encoding: 'LINEAR_PCM', sampleRateHertz: 16_000, model: MODEL };
  call.write({ streamingConfig: { config } });
  return { call, ended: new Promise<StatusObject>((resolve) => call.on('status', resolve)) };
}

test('a replay keeps the slot of its stream while another gateway waits for one', async () => {
  const { engine, address } = await startNode({ capacity: 1 });
  const [remote, other] = [await startGateway(address), await startGateway(address)];
  const gateway = withReplay(remote);
  const stream = await open(gateway);
  const reading = read(stream);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  await reading.until('delta');
  const done = new AbortController();
  const stolen: EngineStream[] = [];
  const waiting = (async () => {
    while (!done.signal.aborted) {
      await open(other).then(
        (one) => stolen.push(one),
        () => {},
      );
      await nextTurn();
    }
  })();
  engine.crash();
  await eventually(() => gateway.replays().replayed === 1);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([TEXT]);
  done.abort();
  await waiting;
  expect(stolen).toEqual([]);
});

test('streams of a lost node hold slots on the other one, also while they are idle', async () => {
  const nodes = [await startNode({ capacity: 2 }), await startNode({ capacity: 2 })];
  const gateway = await startGateway(...nodes.map(({ address }) => address));
  await eventually(() => gateway.health().capacity === 4);
  const streams = [await open(gateway), await open(gateway)];
  const [left, kept] = nodes[0]?.address === streams[0]?.recogniser ? nodes : nodes.toReversed();
  await left?.node.close();
  await eventually(() => kept?.node.health().active === 2);
  const other = await startGateway(kept?.address ?? '');
  await expect(open(other)).rejects.toThrow(EngineBusy);
  expect((await Promise.all(streams.map(say))).flat()).toEqual([TEXT, TEXT]);
});

test('idle streams get their slots again when their only node is back', async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const first = await startNode({ capacity: 2, address });
  const gateway = await startGateway(address);
  const streams = [await open(gateway), await open(gateway)];
  await first.node.close();
  await eventually(() => !gateway.health().ready);
  const again = await startNode({ capacity: 2, address });
  await eventually(() => again.node.health().active === 2);
  expect((await Promise.all(streams.map(say))).flat()).toEqual([TEXT, TEXT]);
});

function fail(): never {
  throw new Error('unreachable');
}
