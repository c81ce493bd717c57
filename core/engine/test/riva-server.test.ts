import { Server, ServerCredentials, status, type ServerDuplexStream } from '@grpc/grpc-js';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';
import { afterEach, expect, test } from 'vitest';
import {
  RECOGNITION_SERVICE,
  type StreamingRecognizeRequest,
  type StreamingRecognizeResponse,
} from '../src/grpc/protocol.ts';
import { serviceDefinition } from '../src/grpc/service-definitions.ts';
import { EngineBusy, RIVA_MODELS, startRivaEngine, type RivaEngine } from '../src/index.ts';

/**
 * A server that behaves as NVIDIA's does: no health service, no load report, no acknowledgement, stability 0, words in
 * finals only, several finals in one call, and nothing at all when nothing was recognised.
 */
type Call = ServerDuplexStream<StreamingRecognizeRequest, StreamingRecognizeResponse>;

const MODEL = 'svc-asr-dholuo-v1';
const never = new AbortController().signal;
const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

async function start(recognize: (call: Call) => void): Promise<RivaEngine> {
  const server = new Server();
  server.addService(serviceDefinition(RECOGNITION_SERVICE), {
    streamingRecognize: recognize,
    getRivaSpeechRecognitionConfig: (_: unknown, answer: (error: null, value: object) => void) =>
      answer(null, { modelConfig: [{ modelName: 'nemotron', parameters: { type: 'online' } }] }),
  });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  closers.push(() => server.forceShutdown());
  const engine = await startRivaEngine({
    addresses: `127.0.0.1:${port}`,
    tls: null,
    capacityPerServer: 2,
    models: RIVA_MODELS,
  });
  closers.push(() => engine.close());
  return engine;
}

test('takes interim results with stability 0 and joins the finals of one call', async () => {
  const requests: StreamingRecognizeRequest[] = [];
  const engine = await start((call) => {
    call.on('data', (request: StreamingRecognizeRequest) => {
      requests.push(request);
      if (requests.length !== 3) return;
      call.write({
        results: [{ alternatives: [{ transcript: 'erokamano' }], audioProcessed: 1.12 }],
      });
      call.write({
        results: [
          {
            isFinal: true,
            audioProcessed: 1.12,
            alternatives: [
              {
                transcript: ' erokamano ',
                words: [{ word: 'erokamano', startTime: 80, endTime: 900 }],
              },
            ],
          },
        ],
      });
      call.write({ results: [{ alternatives: [{ transcript: ' ahi' }], audioProcessed: 2.24 }] });
    });
    call.on('end', () => {
      call.write({
        results: [
          {
            isFinal: true,
            alternatives: [{ transcript: 'ahinya', words: [{ word: 'ahinya', startTime: 1_200 }] }],
          },
        ],
      });
      call.end();
    });
  });
  expect(engine.health()).toMatchObject({ ready: true, capacity: 2 });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(new Uint8Array(CHUNK_SAMPLES * 4));
  await reading.until('delta', 2);
  stream.flush();
  await reading.until('final');
  expect(requests[0]?.streamingConfig).toMatchObject({
    interimResults: true,
    config: { encoding: 'LINEAR_PCM', languageCode: 'luo-KE', enableWordTimeOffsets: true },
  });
  expect(reading.seen).toMatchObject([
    { type: 'delta', text: 'erokamano', stableLength: 0, samples: CHUNK_SAMPLES },
    { type: 'delta', text: 'erokamano ahi', stableLength: 10, samples: 2 * CHUNK_SAMPLES },
    {
      type: 'final',
      text: 'erokamano ahinya',
      samples: 2 * CHUNK_SAMPLES,
      words: [
        { text: 'erokamano', startMs: 80, endMs: 900 },
        { text: 'ahinya', startMs: 1_200 },
      ],
    },
  ]);
  await stream.close();
});

test('answers a flush with an empty final when the server recognised nothing', async () => {
  const engine = await start((call) => {
    call.on('data', () => {});
    call.on('end', () => call.end());
  });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(new Uint8Array(3_200));
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual(['']);
  await stream.close();
});

test('opens no more streams than the configured capacity', async () => {
  const engine = await start((call) => call.on('data', () => {}));
  const streams = await Promise.all([0, 1].map(() => engine.open({ model: MODEL, signal: never })));
  await expect(engine.open({ model: MODEL, signal: never })).rejects.toThrow(EngineBusy);
  for (const stream of streams) await stream.close();
});

test('reports a call that the server ends with an error', async () => {
  const engine = await start((call) => {
    call.on('data', () => {});
    call.emit('error', { code: status.INTERNAL, details: 'Triton failed.' });
  });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(new Uint8Array(3_200));
  expect(await reading.ended).toEqual([{ type: 'error', reason: 'child_died' }]);
});
