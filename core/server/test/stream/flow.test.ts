import { createScriptedEngine, type Engine } from '@svc-asr/engine';
import { LIMITS } from '@svc-asr/protocol';
import { expect, test, vi } from 'vitest';
import { KIKUYU, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { audioFrame } from '@svc-asr/testing/service/raw-frame.ts';
import { framed, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

/** Backpressure and its limits. */

test('slows a fast sender down, loses no audio and bills exactly what it sent', async () => {
  const svc = await startService({ script: { texts: ['nĩ wega'], chunkMs: 25 } });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  for (const frame of framed(speech({ ms: 50_000 }), 64_000)) client.send(frame);
  client.say({ type: 'flush' });
  const final = await client.next('final');
  expect(final).toMatchObject({ total_audio_ms: 50_000, billable_ms: 50_000 });
  await client.close();
  expect((await svc.usage()).body.consumed_ms).toBe(50_000);
  await svc.stop();
});

test('a process buffers at most 256 KiB of a stream that its engine has not accepted', async () => {
  const engine = createScriptedEngine({ script: { texts: ['nĩ wega'] } });
  let held = 0;
  let mostHeld = 0;
  /** Accepts a frame only after the process has answered a request, which gives it time to read the whole socket. */
  const slow: Engine = {
    ...engine,
    async open(input) {
      const stream = await engine.open(input);
      const write = stream.write.bind(stream);
      stream.write = async (pcm) => {
        held += pcm.byteLength;
        mostHeld = Math.max(mostHeld, held);
        await svc.models();
        held -= pcm.byteLength;
        return write(pcm);
      };
      return stream;
    },
  };
  const svc = await startService({ parts: { engine: slow } });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  for (const frame of framed(speech({ ms: 60_000 }), 16_000)) client.send(frame);
  await client.closed;
  expect(mostHeld).toBeGreaterThan(0);
  expect(mostHeld).toBeLessThanOrEqual(LIMITS.heldAudioBytes);
  expect((await svc.usage()).body.consumed_ms).toBe(60_000);
  await svc.stop();
});

test('recognises and bills a burst of the smallest audio frames after a large one', async () => {
  const svc = await startService({ script: { texts: ['nĩ wega'], chunkMs: 25 } });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 60 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  for (const frame of framed(speech({ ms: 10_000 }), 64_000)) client.send(frame);
  await client.flush();
  const small = Array.from({ length: 500 }, () => audioFrame(Buffer.alloc(LIMITS.tinyFrameBytes)));
  const burst = [audioFrame(Buffer.alloc(36_000)), ...small];
  client.wire?.write(Buffer.concat(Array.from({ length: 6 }, () => burst).flat()));
  client.say({ type: 'flush' });
  const samples = (6 * (36_000 + LIMITS.tinyFrameBytes * 500)) / 2;
  const totalMs = 10_000 + Math.ceil(samples / 16);
  expect(await client.next('final', 2)).toMatchObject({ total_audio_ms: totalMs });
  await client.close();
  const [session] = (await svc.usage()).body.recent_sessions;
  expect(session).toMatchObject({ status: 'completed', billable_ms: 23_000 });
  await svc.stop();
});

test('a stream that waits for the engine does not keep the process from serving others', async () => {
  const svc = await startService({
    script: ({ ordinal }) => ({ texts: ['nĩ wega'], chunkMs: ordinal === 0 ? 400 : 0 }),
  });
  const [slow, quick] = [
    await svc.addTenant({ creditMs: 60_000 }),
    await svc.addTenant({ creditMs: 60_000 }),
  ];
  const one = await StreamClient.ready((await svc.createSession(undefined, slow)).body, {
    url: svc.streamUrl,
  });
  for (const frame of framed(speech({ ms: 30_000 }))) one.send(frame);
  const other = await StreamClient.ready((await svc.createSession(undefined, quick)).body, {
    url: svc.streamUrl,
  });
  expect((await other.send(speech({ ms: 1_000 })).flush()).total_audio_ms).toBe(1_000);
  expect(one.ofType('final')).toEqual([]);
  one.socket.terminate();
  await other.close();
  await svc.stop();
});

test('closes a client that does not read with slow_reader and 1008; accepted audio is billed', async () => {
  const svc = await startService({
    // Finals of more than a megabyte each soon exceed the limit of unread output.
    script: { texts: ['mũno '.repeat(20_000)] },
    parts: { streamLimits: { unreadBytes: 200_000 } },
  });
  const { body } = await svc.createSession({ model: KIKUYU, max_audio_seconds: 300 });
  const client = await StreamClient.ready(body, { url: svc.streamUrl });
  client.socket.pause();
  const sending = setInterval(() => {
    client.send(speech({ ms: 100 })).say({ type: 'flush' });
  }, 250);
  const over = await untilOver(svc);
  clearInterval(sending);
  expect(over).toMatchObject({ status: 'completed' });
  expect(over.billable_ms).toBe(Math.ceil(over.audio_ms / 1000) * 1000);
  expect(over.audio_ms).toBeGreaterThan(0);
  client.socket.resume();
  expect(await client.closed).toEqual({ code: 1008, reason: 'slow_reader' });
  expect(client.ofType('error').at(-1)).toMatchObject({ code: 'slow_reader', fatal: true });
  await svc.stop();
});

test('a recogniser that is still starting: status loading first, then ready', async () => {
  const { promise: engineStarted, resolve: startEngine } = Promise.withResolvers<void>();
  const svc = await startService({ script: { texts: ['nĩ wega'] }, engineStarted });
  const { body } = await svc.createSession();
  const client = await StreamClient.open(body, { url: svc.streamUrl });
  await client.next('status');
  startEngine();
  await client.next('ready');
  expect(client.events.map((event) => event.type)).toEqual(['status', 'ready']);
  expect(client.ofType('status')[0]).toMatchObject({ code: 'loading' });
  await client.close();
  await svc.stop();
});

test('a slot that vanished after the upgrade: status queued, then ready when one is free', async () => {
  const svc = await startService({
    script: ({ ordinal }) => ({ texts: ['nĩ wega'], busy: ordinal === 0 }),
  });
  const { body } = await svc.createSession();
  const client = await StreamClient.open(body, { url: svc.streamUrl });
  await client.next('ready');
  expect(client.ofType('status')[0]).toMatchObject({ code: 'queued' });
  await client.close();
  await svc.stop();
});

function untilOver(svc: Service) {
  return vi.waitUntil(
    async () => {
      const [session] = (await svc.usage()).body.recent_sessions;
      return session !== undefined && session.status !== 'active' && session;
    },
    { timeout: 60_000, interval: 10 },
  );
}
