import { eventually } from '@svc-asr/testing/eventually.ts';
import { EngineNodeProcess } from '@svc-asr/local/engine-node-process.ts';
import { OtlpReceiver } from '@svc-asr/testing/otlp-receiver.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngine } from '../../src/gateway/start-engine.ts';
import { createLog } from '../../src/platform/observe/log.ts';
import { createMetrics } from '../../src/platform/observe/metrics.ts';
import { parseConfig, generateSecrets } from '../../src/config.ts';

const { model, pcm } = speech('kikuyu-2');
let receiver: OtlpReceiver;
let node: EngineNodeProcess;
beforeAll(async () => {
  receiver = await OtlpReceiver.start();
  node = await EngineNodeProcess.start({ env: { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url } });
});
afterAll(async () => {
  await node.stop();
  await receiver.stop();
});

/** A service whose recognisers are on an engine node. */
async function startTraced(env: Readonly<Record<string, string>>) {
  const config = parseConfig({
    ...generateSecrets(),
    DATABASE_URL: 'postgres://svc@localhost/svc',
    PUBLIC_STREAM_URL: 'wss://node-1.example.com/v1/asr/stream',
    ENGINE_ADDRESSES: node.address,
  });
  const log = createLog({ level: 'silent' });
  const engine = await startEngine({ config, log, metrics: createMetrics() });
  const service = await startService({ env, parts: { engine } });
  const stop = async (): Promise<void> => {
    await service.stop();
    await engine.close();
  };
  return { ...service, stop };
}

test('K04 K05 one trace spans API, gateway and engine node, without speech and without secrets', async () => {
  const svc = await startTraced({ OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url });
  const { body } = await svc.createSession({ model });
  const stream = await StreamClient.ready(body, { url: svc.streamUrl });
  for (let at = 0; at < pcm.length; at += 32_000) {
    stream.send(Buffer.from(pcm.subarray(at, at + 32_000)));
  }
  const { text } = await stream.flush();
  await stream.close();
  await svc.refusedSession({ model: 'nobody' });
  await svc.stop();
  const names = [
    'POST /v1/asr/sessions',
    'engine.open',
    'final',
    'ledger.claim',
    'ledger.close',
    'ledger.reserve',
    'recognize',
    'stream',
  ];
  const traceId = receiver.spans.find(({ name }) => name === 'ledger.reserve')?.traceId;
  const ofSession = (): typeof receiver.spans =>
    receiver.spans.filter((span) => span.traceId === traceId);
  await eventually(() => ofSession().length >= names.length);
  expect(
    ofSession()
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(names);
  const named = (name: string) => ofSession().find((span) => span.name === name);
  const parentOf = (name: string): string | undefined =>
    ofSession().find(({ spanId }) => spanId === named(name)?.parentSpanId)?.name;
  expect(parentOf('stream')).toBe('POST /v1/asr/sessions');
  expect(parentOf('recognize')).toBe('stream');
  expect(parentOf('ledger.close')).toBe('stream');
  expect(named('recognize')?.service).toBe('svc-engine');
  expect(named('stream')?.service).toBe('svc-asr-all');
  expect(svc.logged()).toContain(`"traceId":"${traceId}"`);
  const audio = Buffer.from(pcm.subarray(32_000, 32_060));
  const everything = receiver.requests.join('\n');
  const words = text.split(' ').filter((word) => word.length > 4);
  expect(words.length).toBeGreaterThan(0);
  const { apiKey } = svc;
  const secrets = [apiKey, apiKey.slice(12), body.websocket_protocols[1], 'Bearer', ...words];
  secrets.push(audio.toString('base64'), audio.toString('hex'));
  for (const secret of secrets) expect(everything.includes(secret), secret).toBe(false);
});

test('traces are off without an endpoint: nothing is sent and no line names a trace', async () => {
  const before = receiver.requests.length;
  const svc = await startTraced({});
  const { body } = await svc.createSession({ model });
  const stream = await StreamClient.ready(body, { url: svc.streamUrl });
  stream.send(Buffer.from(pcm.subarray(0, 32_000)));
  await stream.flush();
  await stream.close();
  await svc.stop();
  expect(svc.deps.tracing).toBeNull();
  expect(svc.logged()).not.toContain('traceId');
  expect(receiver.requests).toHaveLength(before);
});
