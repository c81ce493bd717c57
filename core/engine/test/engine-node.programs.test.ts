import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import http2 from 'node:http2';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import tls from 'node:tls';
import { fileURLToPath } from 'node:url';
import {
  credentials,
  Metadata,
  makeClientConstructor,
  status,
  type ChannelCredentials,
  type Client,
  type ClientDuplexStream,
  type StatusObject,
} from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { afterAll, afterEach, expect, test } from 'vitest';
import {
  HEALTH_SERVICE,
  RECOGNITION_SERVICE,
  ROLE_NAME,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from '../src/grpc/protocol.ts';
import { serviceDefinition } from '../src/grpc/service-definitions.ts';
import {
  createScriptedEngine,
  startEngineNode,
  startRivaEngine,
  withReplay,
  type Engine,
  type EngineNode,
  type PeerNotice,
  type RivaEngine,
  type ScriptedOptions,
  type TlsFiles,
} from '../src/index.ts';
import { choosePeer, isWorthMoving } from '../src/riva/placement.ts';
import { finals, read, recognise } from '@svc-asr/testing/speech/event-reader.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku maitũ mothe';
const never = new AbortController().signal;
const NO_FAILURES = { too_long: 0, no_slot: 0, too_many_losses: 0, different_text: 0 };
const ca = await PrivateCa.create();
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});
afterAll(() => ca.remove());

async function startNode(
  options: ScriptedOptions = {},
  files: TlsFiles | null = null,
): Promise<EngineNode & { address: string; engine: ReturnType<typeof createScriptedEngine> }> {
  const engine = createScriptedEngine({ script: { texts: [TEXT] }, ...options });
  const node = await startEngineNode({
    engine,
    address: '127.0.0.1:0',
    tls: files,
    languages: new Map([['ki-KE', MODEL]]),
    certificateLookMs: 50,
  });
  closers.push(() => node.close());
  return {
    ...node,
    drain: (drainMs) => node.drain(drainMs),
    close: () => node.close(),
    engine,
    address: `127.0.0.1:${node.port}`,
  };
}

async function startGateway(
  addresses: string,
  files: TlsFiles | null = null,
  notices: PeerNotice[] = [],
): Promise<RivaEngine> {
  const engine = await startRivaEngine({
    addresses,
    tls: files,
    readyWithinMs: 1_500,
    certificateLookMs: 50,
    onNotice: (notice) => notices.push(notice),
  });
  closers.push(() => engine.close());
  return engine;
}

type Call = ClientDuplexStream<StreamingRecognizeRequest, StreamingRecognizeResponse>;
const CONFIG = { encoding: 'LINEAR_PCM', sampleRateHertz: 16_000, languageCode: 'ki-KE' };

function connect(
  address: string,
  using: ChannelCredentials = credentials.createInsecure(),
): Client {
  const client = new (makeClientConstructor(serviceDefinition(RECOGNITION_SERVICE), 'Client'))(
    address,
    using,
    { 'grpc.ssl_target_name_override': ROLE_NAME.engine },
  );
  closers.push(() => client.close());
  return client;
}

function begin(
  client: Client,
  metadata = new Metadata(),
): {
  call: Call;
  responses: StreamingRecognizeResponse[];
  ended: Promise<StatusObject>;
} {
  const method = serviceDefinition(RECOGNITION_SERVICE)['StreamingRecognize'];
  if (method === undefined) throw new Error('no method');
  const { path, requestSerialize, responseDeserialize } = method;
  const call = client.makeBidiStreamRequest<StreamingRecognizeRequest, StreamingRecognizeResponse>(
    path,
    requestSerialize,
    responseDeserialize,
    metadata,
  );
  const responses: StreamingRecognizeResponse[] = [];
  call.on('data', (response: StreamingRecognizeResponse) => responses.push(response));
  call.on('error', () => {});
  const ended = new Promise<StatusObject>((resolve) => call.on('status', resolve));
  return { call, responses, ended };
}

test('answers audio and a half-close with interim results, one final and OK', async () => {
  const { address } = await startNode();
  const { call, responses, ended } = begin(connect(address));
  call.write({ streamingConfig: { config: CONFIG, interimResults: true } });
  for (let at = 0; at < 40; at += 1) call.write({ audioContent: new Uint8Array(3_200) });
  call.end();
  expect(await ended).toMatchObject({ code: status.OK });
  const results = responses.flatMap((response) => response.results ?? []);
  const texts = results.map(({ alternatives, stability, isFinal = false }) => [
    alternatives?.[0]?.transcript,
    Math.round((stability ?? 0) * 100) / 100,
    isFinal,
  ]);
  expect(texts).toEqual([
    ['tũgũthoma ', 1, false],
    ['mabuku', 0.01, false],
    ['tũgũthoma mabuku maitũ ', 1, false],
    ['mothe', 0.01, false],
    [TEXT, 1, true],
  ]);
  expect(results.at(-1)?.alternatives?.[0]?.words ?? []).toEqual([]);
});

test('sends only the final, with word times, to a client that asks for that', async () => {
  const { address } = await startNode();
  const { call, responses, ended } = begin(connect(address));
  call.write({ streamingConfig: { config: { ...CONFIG, enableWordTimeOffsets: true } } });
  call.write({ audioContent: new Uint8Array(96_000) });
  call.end();
  await ended;
  expect(responses).toHaveLength(1);
  const words = responses[0]?.results?.[0]?.alternatives?.[0]?.words ?? [];
  expect(words.map(({ word }) => word).join(' ')).toBe(TEXT);
  expect(words[1]).toMatchObject({ startTime: 560, endTime: 1_120 });
});

test.each([
  ['another encoding', { ...CONFIG, encoding: 'FLAC' }, status.INVALID_ARGUMENT],
  ['another sample rate', { ...CONFIG, sampleRateHertz: 8_000 }, status.INVALID_ARGUMENT],
  ['two channels', { ...CONFIG, audioChannelCount: 2 }, status.INVALID_ARGUMENT],
  ['an unknown language', { ...CONFIG, languageCode: 'en-US' }, status.NOT_FOUND],
  ['an unknown model', { ...CONFIG, model: 'parakeet' }, status.NOT_FOUND],
])('refuses %s with a status and takes no slot', async (_, config, code) => {
  const { address, engine } = await startNode();
  const { call, ended } = begin(connect(address));
  call.write({ streamingConfig: { config } });
  expect(await ended).toMatchObject({ code });
  expect(engine.health().active).toBe(0);
});

test('refuses audio without a configuration', async () => {
  const { address } = await startNode();
  const { call, ended } = begin(connect(address));
  call.write({ audioContent: new Uint8Array(3_200) });
  expect(await ended).toMatchObject({ code: status.INVALID_ARGUMENT });
});

test('answers RESOURCE_EXHAUSTED with retry-after-ms while no slot is free', async () => {
  const { address } = await startNode({ capacity: 1 });
  const client = connect(address);
  const first = begin(client);
  first.call.write({ streamingConfig: { config: CONFIG } });
  await new Promise((resolve) => first.call.once('metadata', resolve));
  const second = begin(client);
  second.call.write({ streamingConfig: { config: CONFIG } });
  const refused = await second.ended;
  expect(refused.code).toBe(status.RESOURCE_EXHAUSTED);
  expect(refused.metadata.get('retry-after-ms')).toEqual(['100']);
  first.call.end();
  expect(await first.ended).toMatchObject({ code: status.OK });
});

test('a cancelled call releases its slot', async () => {
  const { address, engine } = await startNode();
  const { call, ended } = begin(connect(address));
  call.write({ streamingConfig: { config: CONFIG } });
  await new Promise((resolve) => call.once('metadata', resolve));
  expect(engine.health().active).toBe(1);
  call.cancel();
  await ended;
  await eventually(() => engine.health().active === 0);
});

test('closing streams at any moment leaks no slot', async () => {
  const { address, engine } = await startNode({ script: { texts: [TEXT], openMs: 1 } });
  const gateway = await startGateway(address);
  const pauses = [
    () => Promise.resolve(),
    async () => {},
    () => new Promise((resolve) => setImmediate(resolve)),
    () => sleep(1),
    () => sleep(3),
  ];
  for (let times = 0; times < 100; times += 1) {
    const stream = await gateway.open({ model: MODEL, signal: never });
    void stream.write(new Uint8Array(100_000));
    stream.flush();
    await pauses[times % pauses.length]?.();
    await stream.close();
  }
  await expect.poll(() => engine.health().active).toBe(0);
  await expect.poll(() => gateway.nodes()).toMatchObject([{ calls: 0, used: 0 }]);
});

test('a connection has room for the chunks of many calls', async () => {
  const node = await startNode();
  const session = http2.connect(`http://${node.address}`);
  closers.push(() => session.destroy());
  const call = session.request({
    ':method': 'POST',
    ':path': `/${RECOGNITION_SERVICE}/StreamingRecognize`,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  call.on('error', () => {});
  await expect
    .poll(() => session.state.remoteWindowSize, { timeout: 10_000 })
    .toBeGreaterThan(100 * CHUNK_SAMPLES * 2);
});

test('lists its services by reflection', async () => {
  const { address } = await startNode();
  const packageDir = dirname(fileURLToPath(import.meta.resolve('@grpc/reflection/package.json')));
  const file = join(packageDir, 'build/proto/grpc/reflection/v1/reflection.proto');
  const service = loadSync(file, { defaults: true })['grpc.reflection.v1.ServerReflection'];
  if (service === undefined || 'format' in service) throw new Error('no reflection service');
  const info = service['ServerReflectionInfo'];
  if (info === undefined) throw new Error('no method');
  const call = connect(address).makeBidiStreamRequest<object, ReflectionAnswer>(
    info.path,
    info.requestSerialize,
    info.responseDeserialize,
  );
  call.write({ listServices: '' });
  const answer = await new Promise<ReflectionAnswer>((resolve) => call.once('data', resolve));
  call.end();
  const names = answer.listServicesResponse?.service.map(({ name }) => name);
  expect(names).toEqual(expect.arrayContaining([RECOGNITION_SERVICE, HEALTH_SERVICE]));
});

interface ReflectionAnswer {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
}

test('a drain lets utterances end, refuses new ones and notifies health watchers', async () => {
  const node = await startNode();
  const client = connect(node.address);
  const watch = serviceDefinition(HEALTH_SERVICE)['Watch'];
  if (watch === undefined) throw new Error('no method');
  const statuses: unknown[] = [];
  const watching = client.makeServerStreamRequest<object, { status?: string }>(
    watch.path,
    watch.requestSerialize,
    watch.responseDeserialize,
    {},
  );
  watching.on('data', (response: { status?: string }) => statuses.push(response.status));
  watching.on('error', () => {});
  const { call, ended } = begin(client);
  call.write({ streamingConfig: { config: CONFIG } });
  await new Promise((resolve) => call.once('metadata', resolve));
  await eventually(() => statuses.length === 1);
  const drained = node.drain(30_000);
  await eventually(() => statuses.length === 2);
  expect(statuses).toEqual(['SERVING', 'NOT_SERVING']);
  const late = begin(client);
  late.call.write({ streamingConfig: { config: CONFIG } });
  expect(await late.ended).toMatchObject({ code: status.UNAVAILABLE });
  call.write({ audioContent: new Uint8Array(3_200) });
  call.end();
  expect(await ended).toMatchObject({ code: status.OK });
  await drained;
});

test('utterances that outlast a drain continue on another node without an error', async () => {
  const nodes = [await startNode(), await startNode()];
  const remote = await startGateway(nodes.map(({ address }) => address).join(','));
  await eventually(() => remote.nodes().every(({ state }) => state === 'serving'));
  const gateway = withReplay(remote);
  const streams = await Promise.all(
    Array.from({ length: 6 }, () => gateway.open({ model: MODEL, signal: never })),
  );
  const readings = streams.map(read);
  for (const stream of streams) await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  for (const reading of readings) await reading.until('delta');
  const leaving = nodes.find(({ address }) => address === streams[0]?.recogniser);
  const moving = streams.filter(({ recogniser }) => recogniser === leaving?.address).length;
  // None of them flushes before the limit.
  await leaving?.drain(200);
  for (const stream of streams) {
    await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
    stream.flush();
  }
  for (const reading of readings) {
    expect(finals(await reading.until('final'))).toEqual([TEXT]);
    expect(reading.seen.filter(({ type }) => type === 'error')).toEqual([]);
  }
  expect(gateway.replays()).toMatchObject({ replayed: moving, recovering: 0, failed: NO_FAILURES });
  for (const stream of streams) await stream.close();
});

test('recognises over mutual TLS, and a renewed certificate needs no restart', async () => {
  const nodeTls = await ca.issue(ROLE_NAME.engine);
  const gatewayTls = await ca.issue(ROLE_NAME.gateway);
  const { address } = await startNode({}, nodeTls);
  const gateway = await startGateway(address, gatewayTls);
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
  const serial = async (): Promise<string | undefined> => {
    const socket = tls.connect({
      port: Number(address.split(':')[1]),
      host: '127.0.0.1',
      servername: ROLE_NAME.engine,
      ca: readFileSync(gatewayTls.caFile),
      cert: readFileSync(gatewayTls.certFile),
      key: readFileSync(gatewayTls.keyFile),
      ALPNProtocols: ['h2'],
    });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const before = await serial();
  const [nextNode, nextGateway] = [
    await ca.issue(ROLE_NAME.engine),
    await ca.issue(ROLE_NAME.gateway),
  ];
  for (const [from, to] of [
    [nextNode, nodeTls],
    [nextGateway, gatewayTls],
  ] as const) {
    // One file after the other, as in a renewal.
    await cp(from.certFile, to.certFile);
    await cp(from.keyFile, to.keyFile);
  }
  await eventually(async () => (await serial()) !== before);
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
});

test.each(['no certificate', 'another CA', 'the wrong name'] as const)(
  'a gateway with %s sends no audio',
  async (problem) => {
    const node = await startNode({}, await ca.issue(ROLE_NAME.engine));
    const stranger = await PrivateCa.create();
    closers.push(() => stranger.remove());
    const notices: PeerNotice[] = [];
    const gateway = await startGateway(node.address, await gatewayFiles(), notices);
    expect(gateway.health()).toMatchObject({ ready: false, capacity: 0 });
    expect(node.engine.health().active).toBe(0);
    expect(notices.filter(({ notice }) => notice === 'node_serving')).toEqual([]);

    async function gatewayFiles(): Promise<TlsFiles | null> {
      if (problem === 'no certificate') return null;
      if (problem === 'the wrong name') return ca.issue('somebody.svc-asr.internal');
      const { certFile, keyFile } = await stranger.issue(ROLE_NAME.gateway);
      return { certFile, keyFile, caFile: (await ca.issue(ROLE_NAME.gateway)).caFile };
    }
  },
);

test('a node that serves a gateway refuses other connections with the wrong name', async () => {
  const node = await startNode({}, await ca.issue(ROLE_NAME.engine));
  const gateway = await startGateway(node.address, await ca.issue(ROLE_NAME.gateway));
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
  const stranger = await startGateway(node.address, await ca.issue('somebody.svc-asr.internal'));
  expect(stranger.health()).toMatchObject({ ready: false });
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
});

test.each([
  [ROLE_NAME.gateway, status.OK],
  ['somebody.svc-asr.internal', status.PERMISSION_DENIED],
])('a certificate for %s reads the list of models with status %i', async (name, code) => {
  const { address } = await startNode({}, await ca.issue(ROLE_NAME.engine));
  const files = await ca.issue(name);
  const [root, key, cert] = [files.caFile, files.keyFile, files.certFile].map((file) =>
    readFileSync(file),
  );
  const client = connect(address, credentials.createSsl(root, key, cert));
  const method = serviceDefinition(RECOGNITION_SERVICE)['GetRivaSpeechRecognitionConfig'];
  if (method === undefined) throw new Error('no method');
  const { path, requestSerialize, responseDeserialize } = method;
  const answered = await new Promise<status>((resolve) => {
    client
      .makeUnaryRequest(path, requestSerialize, responseDeserialize, {}, () => {})
      .on('status', (ended: StatusObject) => resolve(ended.code));
  });
  expect(answered).toBe(code);
});

test('a gateway sends no audio to a node with the wrong name', async () => {
  const node = await startNode({}, await ca.issue('somebody.svc-asr.internal'));
  const gateway = await startGateway(node.address, await ca.issue(ROLE_NAME.gateway));
  expect(gateway.health()).toMatchObject({ ready: false });
  expect(node.engine.health().active).toBe(0);
});

test('the recogniser gets exactly the audio that was written, in any sizes', async () => {
  const scripted = createScriptedEngine({ script: { texts: [TEXT] } });
  const heard: Buffer[] = [];
  const engine: Engine = {
    describe: (model) => scripted.describe(model),
    health: () => scripted.health(),
    close: () => scripted.close(),
    async open(input) {
      const stream = await scripted.open(input);
      const write = stream.write.bind(stream);
      stream.write = (pcm) => {
        heard.push(Buffer.from(pcm));
        return write(pcm);
      };
      return stream;
    },
  };
  const node = await startEngineNode({ engine, address: '127.0.0.1:0', tls: null });
  closers.push(() => node.close());
  const gateway = await startGateway(`127.0.0.1:${node.port}`);
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  const audio = Buffer.from(Uint16Array.from({ length: 200_001 }, (_, at) => at).buffer);
  const sizes = [3_200, 2, 36_000, 80_000, 640];
  for (let at = 0, turn = 0; at < audio.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 2;
    await stream.write(audio.subarray(at, at + size));
    at += size;
  }
  stream.flush();
  await reading.until('final');
  expect(Buffer.concat(heard).equals(audio)).toBe(true);
  await stream.close();
});

test('a stalled recogniser gets two chunks of a stream, then the writer is held back', async () => {
  const { address, engine } = await startNode({
    script: { texts: [TEXT], hangAfterSamples: 1 },
    stalledAfterMs: Infinity,
  });
  const gateway = await startGateway(address);
  const stream = await gateway.open({ model: MODEL, signal: never });
  let chunks = 0;
  const isHeld = async (): Promise<boolean> => {
    const taken = stream.write(new Uint8Array(CHUNK_SAMPLES * 2)).then(() => true);
    return !(await Promise.race([taken, sleep(500, false)]));
  };
  while (!(await isHeld())) chunks += 1;
  expect(engine.health().active).toBe(1);
  // Two are at the node and one waits in the gateway.
  expect(chunks).toBe(3);
  await stream.close();
});

test.each(['plain', 'TLS'] as const)('reconnects to a restarted node over %s', async (kind) => {
  const isSecure = kind === 'TLS';
  const nodeTls = isSecure ? await ca.issue(ROLE_NAME.engine) : null;
  const first = await startNode({}, nodeTls);
  const gateway = await startGateway(
    first.address,
    isSecure ? await ca.issue(ROLE_NAME.gateway) : null,
  );
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
  for (let times = 0; times < 2; times += 1) {
    await first.close();
    await eventually(() => !gateway.health().ready);
    const again = await startEngineNode({
      engine: first.engine,
      address: first.address,
      tls: nodeTls,
    });
    closers.push(() => again.close());
    await eventually(() => gateway.health().ready);
    expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
    await again.close();
  }
});

test('finds nodes by DNS', async () => {
  const { port } = await startNode();
  const gateway = await startGateway(`dns:///localhost:${port}`);
  expect(gateway.nodes().map(({ state }) => state)).toContain('serving');
  expect(await recognise(gateway, MODEL)).toEqual([TEXT]);
});

test('an upgrade moves new utterances to the newer build and replays on the older one', async () => {
  const old = await startNode({ build: 'demo-9', script: { texts: ['mabuku maitũ mothe'] } });
  const address = `127.0.0.1:${await freePort()}`;
  const remote = await startGateway(`${old.address},${address}`);
  const gateway = withReplay(remote);
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  await reading.until('delta');
  const next = createScriptedEngine({ build: 'demo-10', script: { texts: [TEXT] } });
  const node = await startEngineNode({ engine: next, address, tls: null });
  closers.push(() => node.close());
  await eventually(() => remote.nodes().every(({ state }) => state === 'serving'));
  old.engine.crash();
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  stream.flush();
  await reading.until('final');
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  stream.flush();
  expect(finals(await reading.until('final', 2))).toEqual(['mabuku maitũ mothe', TEXT]);
  expect(gateway.replays()).toMatchObject({ replayed: 1, recovering: 0, failed: NO_FAILURES });
  await stream.close();
});

test('places utterances on the node with the newest weights, and replays on the same', async () => {
  const peers = [
    { name: 'old', isServing: true, used: 0, capacity: 10, build: () => 'demo-2026-11-2' },
    { name: 'new', isServing: true, used: 9, capacity: 10, build: () => 'demo-2026-11-10' },
    { name: 'gone', isServing: false, used: 0, capacity: 10, build: () => 'demo-2027-01-01' },
  ];
  const choose = (build: string | null): string | undefined =>
    choosePeer(peers, { model: MODEL, build })?.name;
  expect(choose(null)).toBe('new');
  expect(choose('demo-2026-11-2')).toBe('old');
  expect(choose('demo-2027-01-01')).toBeUndefined();
  peers[1] = {
    name: 'new',
    isServing: true,
    used: 10,
    capacity: 10,
    build: () => 'demo-2026-11-10',
  };
  expect(choose(null)).toBe('old');
});

const peer = (used: number, build: string) => ({
  isServing: true,
  used,
  capacity: 10,
  build: () => build,
});

test('a stream leaves its node for newer weights or much less load, and never for older weights', () => {
  const moves = (from: ReturnType<typeof peer>, to: ReturnType<typeof peer>): boolean =>
    isWorthMoving(MODEL, { from, to });
  expect(moves(peer(1, 'demo-9'), peer(9, 'demo-10'))).toBe(true);
  expect(moves(peer(9, 'demo-10'), peer(0, 'demo-9'))).toBe(false);
  expect(moves(peer(6, 'demo-9'), peer(3, 'demo-9'))).toBe(true);
  // A stream that moved does not move back.
  expect(moves(peer(4, 'demo-9'), peer(5, 'demo-9'))).toBe(false);
  expect(moves(peer(5, 'demo-9'), peer(4, 'demo-9'))).toBe(false);
});

test('a node hears the keyterms of each utterance, and says whether its model uses them', async () => {
  const node = await startNode();
  const heard: (readonly string[])[] = [];
  const open = node.engine.open.bind(node.engine);
  node.engine.open = async (input) =>
    Object.assign(await open(input), {
      expect: (keyterms: readonly string[]) => void heard.push(keyterms),
    });
  const gateway = await startRivaEngine({ addresses: node.address, tls: null });
  closers.push(() => gateway.close());
  expect(gateway.describe(MODEL).keyterms).toBe(true);
  const stream = await gateway.open({ model: MODEL, signal: never });
  const reading = read(stream);
  stream.expect(['wanjirũ', "ng'ang'a"]);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  stream.expect([]);
  stream.flush();
  await reading.until('final');
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  stream.flush();
  await reading.until('final', 2);
  await stream.close();
  expect(heard).toEqual([['wanjirũ', "ng'ang'a"]]);
});

test('a gateway takes no keyterms for a model that a node does not use them with', async () => {
  const nodes = [await startNode(), await startNode({ keyterms: false })];
  const addresses = nodes.map(({ address }) => address).join(',');
  const gateway = await startRivaEngine({ addresses, tls: null });
  closers.push(() => gateway.close());
  await eventually(() => gateway.health().capacity === 128);
  expect(gateway.describe(MODEL).keyterms).toBe(false);
});
