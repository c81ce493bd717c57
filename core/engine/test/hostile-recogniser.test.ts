import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import * as fc from 'fast-check';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterEach, expect, test } from 'vitest';
import {
  HEALTH_SERVICE,
  RECOGNITION_SERVICE,
  SLOTS_SERVICE,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from '../src/grpc/protocol.ts';
import { serviceDefinition } from '../src/grpc/service-definitions.ts';
import {
  createScriptedEngine,
  startEngineNode,
  startRivaEngine,
  startSherpaEngine,
  withReplay,
  type EngineEvent,
  type PeerNotice,
  type RivaEngine,
} from '../src/index.ts';
import { parseLoad } from '../src/grpc/load-report.ts';
import type { HoldStream } from '../src/node/node-slots.ts';
import { InvalidAnswer, readBuild, readDelta, readFinal } from '../src/recogniser-answer.ts';
import { ChunkBuffers } from '../src/pool/chunk-buffers.ts';
import { FRAME, type Frame } from '../src/pool/frames.ts';
import { PooledStream } from '../src/pool/pooled-stream.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku maitũ mothe';
const HEARD = 10 * CHUNK_SAMPLES;
/** Transducers decide once per frame of 80 ms. */
const FRAME_SAMPLES = 1_280;
/** A child on a busy machine takes longer to start than a stream usually waits. */
const START_MS_MAX = 60_000;
const never = new AbortController().signal;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const word = { text: 'mabuku', startMs: 80, endMs: 900, confidence: 0.9 };
const final = { text: TEXT, words: [word, { ...word, startMs: 960, endMs: 960 }], samples: 17_920 };
const delta = { text: TEXT, stableLength: 10, samples: 17_920 };

test.each([
  ['no object', null],
  ['no words', { ...final, words: undefined }],
  ['words that are no list', { ...final, words: { length: 1 } }],
  ['600,000 empty words', { ...final, words: Array.from({ length: 600_000 }, () => ({})) }],
  ['a long transcript', { ...final, text: 'x'.repeat(3_500_000) }],
  ['long words', { ...final, words: [{ ...word, text: 'x'.repeat(100_000) }] }],
  ['no text', { ...final, text: undefined }],
  ['a number as text', { ...final, text: 7 }],
  ['an escape sequence', { ...final, text: '\u001b[31mhi' }],
  ['text that runs backwards', { ...final, text: 'hi\u202e' }],
  ['half a character', { ...final, text: 'hi\ud800' }],
  ['words in no order', { ...final, words: [{ ...word, startMs: 500 }, word] }],
  ['a word that ends before it starts', { ...final, words: [{ ...word, endMs: 79 }] }],
  ['a negative time', { ...final, words: [{ ...word, startMs: -2_147_483_648 }] }],
  ['a time of days', { ...final, words: [{ ...word, endMs: 2_147_483_647 }] }],
  ['a time that is no number', { ...final, words: [{ ...word, startMs: NaN }] }],
  ['a confidence that is no number', { ...final, words: [{ ...word, confidence: NaN }] }],
  ['a confidence of 2', { ...final, words: [{ ...word, confidence: 2 }] }],
  ['negative samples', { ...final, samples: -1 }],
  ['samples that are no number', { ...final, samples: NaN }],
])('refuses a final with %s', (_, answer) => {
  expect(() => readFinal(answer, HEARD)).toThrow(InvalidAnswer);
});

test('reads valid answers as they are, and cuts counts that exceed the audio or the text', () => {
  expect(readFinal(final, HEARD)).toEqual(final);
  expect(readDelta(delta, HEARD)).toEqual(delta);
  expect(readDelta({ text: TEXT, stableLength: 1e9, samples: 1e30 }, HEARD)).toEqual({
    text: TEXT,
    stableLength: TEXT.length,
    samples: HEARD,
  });
});

test('takes all that weights can write: ten long words in every frame', () => {
  const frames = Array.from({ length: HEARD / FRAME_SAMPLES }, (_, at) => at * 80);
  const words = frames.flatMap((startMs) =>
    Array.from({ length: 10 }, () => ({ text: 'x'.repeat(15), startMs, endMs: startMs + 80 })),
  );
  const text = words.map((one) => one.text).join(' ');
  expect(readFinal({ text, words, samples: HEARD }, HEARD).words).toHaveLength(1_400);
});

function load(text: string): unknown {
  const metadata = new Metadata();
  metadata.set('svc-load', text);
  return parseLoad(metadata);
}

test('refuses build names that could attack a terminal, and loads that are no counts', () => {
  expect(readBuild('demo-2026-11-10')).toBe('demo-2026-11-10');
  for (const build of ['a\u001b[2J', 'x'.repeat(201), 7]) {
    expect(() => readBuild(build)).toThrow(InvalidAnswer);
  }
  expect(load('1/8/20')).toEqual({ active: 1, capacity: 8, lagMs: 20, held: null });
  for (const text of ['', '1/8', '-1/8/0', '1/1e9/0', '0x1/8/0', '1/9999999/0', '1/8/0/0']) {
    expect(load(text)).toBeNull();
  }
});

/** Changes a value somewhere inside. */
function mutated(value: unknown): fc.Arbitrary<unknown> {
  if (typeof value !== 'object' || value === null) return fc.anything();
  const entries = Object.entries(value);
  const inside = entries.map(([key, part]) =>
    mutated(part).map((changed) =>
      Array.isArray(value)
        ? value.map((one: unknown, at) => (String(at) === key ? changed : one))
        : { ...value, [key]: changed },
    ),
  );
  return fc.oneof(fc.anything(), ...inside);
}

function isValid(event: EngineEvent): boolean {
  if (event.type === 'error') return false;
  const words = event.type === 'final' ? event.words : [];
  const isTimed = words.every(({ startMs, endMs }) => startMs >= 0 && endMs >= startMs);
  const isText = typeof event.text === 'string' && event.text.length < 20_000;
  return isTimed && isText && event.samples >= 0 && event.samples <= HEARD;
}

test('mutated answers of a child are refused or harmless', async () => {
  const frames = fc.record({
    type: fc.constantFrom(FRAME.decoded, FRAME.final),
    utterance: fc.constantFrom(0, 0, 0, 1, 4_000_000_000),
    credits: fc.constantFrom(0, 1, 1, 65_535),
    answer: fc.oneof(mutated(final), mutated(delta)),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(frames, { maxLength: 12 }), async (sent) => {
      const stream = pooledStream();
      const reading = read(stream);
      await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
      stream.flush();
      for (const { answer, ...header } of sent) {
        const payload = Buffer.from(JSON.stringify(answer) ?? '');
        try {
          stream.receive({ ...header, stream: 1, payload } satisfies Frame);
        } catch (error) {
          if (!(error instanceof InvalidAnswer || error instanceof SyntaxError)) throw error;
          // A child that sends this is killed.
          break;
        }
      }
      await new Promise((resolve) => setImmediate(resolve));
      expect(reading.seen.every(isValid)).toBe(true);
      expect(finals(reading.seen).length).toBeLessThanOrEqual(1);
      expect(stream.waitedMs(performance.now())).toBeGreaterThanOrEqual(0);
      await stream.close();
    }),
    { numRuns: 300 },
  );
});

function pooledStream(): PooledStream {
  return new PooledStream({
    id: 1,
    childPid: 0,
    build: 'x',
    buffers: new ChunkBuffers(),
    isCrowded: () => false,
    send: () => {},
    sendKeyterms: () => {},
    sendChunk: () => {},
    release: () => {},
  });
}

/** The first child of this pool answers every flush with `frames`; the next is the real one. */
async function startWithHostileChild(frames: string) {
  const folder = await mkdtemp(join(tmpdir(), 'svc-hostile-'));
  closers.push(() => rm(folder, { recursive: true }));
  const framesUrl = new URL('../src/pool/frames.ts', import.meta.url).href;
  await writeFile(
    join(folder, 'child.mjs'),
    `import { Socket } from 'node:net';
     import { encodeFrame, FRAME, FrameReader } from '${framesUrl}';
     const parent = new Socket({ fd: 3 });
     const send = (header, payload) => parent.write(encodeFrame(header, payload));
     const reader = new FrameReader(({ type, stream }) => {
       if (type === FRAME.open) send({ type: FRAME.opened, stream });
       if (type === FRAME.flush) { ${frames} }
     });
     parent.on('data', (bytes) => reader.push(bytes));
     parent.on('close', () => process.exit(0));
     send({ type: FRAME.ready, credits: 1 });`,
  );
  // The pool starts its children with this command when they run as another user.
  await writeFile(
    join(folder, 'setpriv'),
    `#!/bin/sh\nif mkdir ${folder}/first 2>/dev/null; then exec ${process.execPath} ${folder}/child.mjs; fi
shift 6\nexec "$@"\n`,
  );
  await chmod(join(folder, 'setpriv'), 0o755);
  const before = process.env['PATH'];
  process.env['PATH'] = `${folder}:${before}`;
  closers.push(() => void (process.env['PATH'] = before));
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const engine = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1, user });
  closers.push(() => engine.close());
  return engine;
}

test.each([
  [
    '600,000 empty words',
    `{ text: '', words: Array.from({ length: 600_000 }, () => ({})), samples: 0 }`,
  ],
  ['a final without words', `{ text: 'hi', samples: 0 }`],
  ['a transcript of 3.5 MB', `{ text: 'x'.repeat(3_500_000), words: [], samples: 0 }`],
])('a child that answers with %s is replaced, and the stream continues', async (_, answer) => {
  const pool = await startWithHostileChild(
    `send({ type: FRAME.final, stream, credits: 1 }, JSON.stringify(${answer}));`,
  );
  const engine = withReplay(pool, { slotWithinMs: START_MS_MAX });
  const { model, pcm } = speech('kikuyu-1');
  const stream = await engine.open({ model, signal: never });
  const reading = read(stream);
  await stream.write(pcm.slice(0, CHUNK_SAMPLES));
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([expect.stringMatching(/./)]);
  expect(reading.seen.filter(({ type }) => type === 'error')).toEqual([]);
  expect(pool.restarts()).toMatchObject({ child_died: 1 });
});

/** A message, or the bytes of one. */
type Answer = StreamingRecognizeResponse | Buffer;
type Call = ServerDuplexStream<StreamingRecognizeRequest, Answer>;

interface HostileNode {
  /** The answers to each message of audio and to the half-close. */
  readonly answers: () => readonly Answer[];
  readonly build?: string;
  readonly models?: number;
  readonly load?: string;
  /** Serves a gateway that wants to hold slots. Without it, the node is one of an older version. */
  readonly hold?: (call: HoldStream) => void;
}

/** The protocol, except that the server may send any bytes. */
function rawDefinition(): ServiceDefinition {
  const definition = serviceDefinition(RECOGNITION_SERVICE);
  const recognize = definition['StreamingRecognize'];
  if (recognize === undefined) throw new Error('no method');
  const responseSerialize = (answer: Answer): Buffer =>
    Buffer.isBuffer(answer) ? answer : recognize.responseSerialize(answer);
  return { ...definition, StreamingRecognize: { ...recognize, responseSerialize } };
}

async function startHostileNode(hostile: HostileNode): Promise<string> {
  const server = new Server();
  const { load = '0/100/0', build = 'scripted', models = 2 } = hostile;
  const report = (): Metadata => {
    const metadata = new Metadata();
    metadata.set('svc-load', load);
    return metadata;
  };
  server.addService(rawDefinition(), {
    streamingRecognize(call: Call) {
      const opened = report();
      opened.set('svc-build', build);
      call.sendMetadata(opened);
      const answer = (): void => hostile.answers().forEach((one) => call.write(one));
      call.on('data', ({ streamingConfig }: StreamingRecognizeRequest) => {
        if (streamingConfig === undefined) answer();
      });
      call.on('end', () => {
        answer();
        call.end(report());
      });
      call.on('error', () => {});
    },
    getRivaSpeechRecognitionConfig: (_: unknown, reply: (error: null, value: object) => void) => {
      const modelConfig = Array.from({ length: models }, (__, at) => ({
        modelName: at === 0 ? MODEL : `model-${at}`,
        parameters: { build },
      }));
      reply(null, { modelConfig });
    },
  });
  server.addService(serviceDefinition(HEALTH_SERVICE), {
    check: (_: unknown, reply: (error: null, value: object, trailer: Metadata) => void) =>
      reply(null, { status: 'SERVING' }, report()),
    watch: () => {},
  });
  const { hold } = hostile;
  if (hold !== undefined) server.addService(serviceDefinition(SLOTS_SERVICE), { hold });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  closers.push(() => server.forceShutdown());
  return `127.0.0.1:${port}`;
}

async function startHonestNode(): Promise<string> {
  const engine = createScriptedEngine({ script: { texts: [TEXT] } });
  const node = await startEngineNode({ engine, address: '127.0.0.1:0', tls: null });
  closers.push(() => node.close());
  return `127.0.0.1:${node.port}`;
}

async function startGateway(
  addresses: readonly string[],
): Promise<{ gateway: RivaEngine; notices: PeerNotice[] }> {
  const notices: PeerNotice[] = [];
  const gateway = await startRivaEngine({
    addresses: addresses.join(','),
    tls: null,
    readyWithinMs: 500,
    onNotice: (notice) => notices.push(notice),
  });
  closers.push(() => gateway.close());
  await expect
    .poll(() => notices.length, { timeout: 10_000 })
    .toBeGreaterThanOrEqual(addresses.length);
  return { gateway, notices };
}

/** A final of empty words, two bytes each. */
function emptyWords(count: number): Buffer {
  const [results, alternatives, isFinal, infos] = [0x0a, 0x0a, 0x10, 0x1a];
  const alternative = Buffer.alloc(2 * count);
  for (let at = 0; at < alternative.length; at += 2) alternative[at] = infos;
  const result = Buffer.concat([field(alternatives, alternative), Buffer.from([isFinal, 1])]);
  return field(results, result);
}

function field(tag: number, bytes: Buffer): Buffer {
  const header = [tag];
  for (let rest = bytes.length; ; rest >>>= 7) {
    header.push(rest > 0x7f ? (rest & 0x7f) | 0x80 : rest);
    if (rest <= 0x7f) return Buffer.concat([Buffer.from(header), bytes]);
  }
}

const interim = (alternative: object): StreamingRecognizeResponse => ({
  results: [{ alternatives: [alternative], audioProcessed: 1 }],
});
const days = { word: 'a', startTime: -2_147_483_648, endTime: 2_147_483_647 };

test.each<[string, readonly Answer[]]>([
  ['500,000 empty words', [emptyWords(500_000)]],
  ['600,000 empty words', [emptyWords(600_000)]],
  ['too many words in many finals', Array.from({ length: 40 }, () => emptyWords(50))],
  ['a transcript of 900 KB', [interim({ transcript: 'x'.repeat(900_000) })]],
  ['a transcript of 3.5 MB', [interim({ transcript: 'x'.repeat(3_500_000) })]],
  ['an escape sequence', [interim({ transcript: '\u001b[31mhi\u0000' })]],
  ['no message at all', [Buffer.from([0xff, 0xff, 0xff])]],
  ['an audio length that is no number', [{ results: [{ audioProcessed: NaN }] }]],
  ['impossible times', [{ results: [{ isFinal: true, alternatives: [{ words: [days] }] }] }]],
  ['acknowledgements of nothing', [{}]],
  ['a flood of answers', Array.from({ length: 1_000 }, () => interim({ transcript: 'x' }))],
])('a node that sends %s loses its streams to another one', async (_, answers) => {
  const hostile = await startHostileNode({ answers: () => answers });
  const { gateway, notices } = await startGateway([hostile, await startHonestNode()]);
  const engine = withReplay(gateway);
  const streams = await Promise.all(
    Array.from({ length: 8 }, () => engine.open({ model: MODEL, signal: never })),
  );
  const readings = streams.map(read);
  for (const stream of streams) await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
  for (const stream of streams) stream.flush();
  for (const reading of readings) {
    expect(finals(await reading.until('final'))).toEqual([TEXT]);
    expect(reading.seen.filter(({ type }) => type === 'error')).toEqual([]);
  }
  expect(notices).toContainEqual({
    notice: 'node_lost',
    address: hostile,
    reason: 'invalid_answer',
  });
  expect(gateway.nodes().find(({ address }) => address === hostile)?.state).toBe('lost');
  for (const stream of streams) await stream.close();
});

test.each([
  ['300 models', { models: 300 }],
  ['a build name with an escape sequence', { build: 'x~\u007f' }],
])('a node with %s gets no calls', async (_, lie) => {
  const address = await startHostileNode({ answers: () => [], ...lie });
  const { gateway, notices } = await startGateway([address]);
  expect(notices).toEqual([{ notice: 'node_lost', address, reason: 'invalid_answer' }]);
  expect(gateway.health()).toMatchObject({ ready: false, capacity: 0 });
});

function named(call: HoldStream, holder: string): void {
  const metadata = new Metadata();
  metadata.set('svc-holder', holder);
  call.sendMetadata(metadata);
  call.on('error', () => {});
}

test.each<[string, PeerNotice['reason'], (call: HoldStream) => void]>([
  ['grants slots that nobody asked for', 'invalid_answer', flood],
  ['gives the holder a name with spaces', 'invalid_answer', (call) => named(call, 'a b')],
  ['answers no request for a slot', 'silent', (call) => named(call, 'holder')],
])('a node that %s gets no streams', async (_, reason, hold) => {
  const hostile = await startHostileNode({ answers: () => [], hold });
  const { gateway, notices } = await startGateway([hostile, await startHonestNode()]);
  const streams = await Promise.all(
    Array.from({ length: 8 }, () => gateway.open({ model: MODEL, signal: never })),
  );
  await expect
    .poll(() => notices, { timeout: 10_000 })
    .toContainEqual({ notice: 'node_lost', address: hostile, reason });
  for (const stream of streams) {
    const reading = read(stream);
    await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
    stream.flush();
    expect(finals(await reading.until('final'))).toEqual([TEXT]);
  }
});

function flood(call: HoldStream): void {
  named(call, 'holder');
  for (let times = 0; times < 1_000; times += 1) call.write({ granted: true });
}

test('mutated answers of a node end no process, and every stream gets an honest final', async () => {
  const text = fc.oneof(fc.string(), fc.string({ unit: 'binary' }), fc.constant(TEXT));
  const number = fc.oneof(fc.double(), fc.integer());
  const response = fc.record({
    results: fc.array(
      fc.record({
        isFinal: fc.boolean(),
        stability: number,
        audioProcessed: number,
        alternatives: fc.array(
          fc.record({
            transcript: text,
            words: fc.array(
              fc.record({
                word: text,
                startTime: fc.integer(),
                endTime: fc.nat(),
                confidence: number,
              }),
            ),
          }),
          { maxLength: 2 },
        ),
      }),
      { maxLength: 4 },
    ),
  });
  const bytes = fc.uint8Array({ maxLength: 200 }).map((some) => Buffer.from(some));
  const answers: readonly Answer[] = fc.sample(fc.oneof(response, bytes), {
    numRuns: 60,
    seed: 7,
  });
  let at = 0;
  const addresses = await Promise.all(
    Array.from({ length: 6 }, () =>
      startHostileNode({ answers: () => answers.slice((at += 1) % answers.length).slice(0, 1) }),
    ),
  );
  const { gateway } = await startGateway([...addresses, await startHonestNode()]);
  const engine = withReplay(gateway);
  for (let round = 0; round < 10; round += 1) {
    const stream = await engine.open({ model: MODEL, signal: never });
    const reading = read(stream);
    await stream.write(new Uint8Array(CHUNK_SAMPLES * 2));
    stream.flush();
    await Promise.race([reading.until('final'), reading.ended]);
    expect(reading.seen.every((event) => event.type === 'error' || isValid(event))).toBe(true);
    await stream.close();
  }
});
