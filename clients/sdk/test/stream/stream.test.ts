import { randomBytes } from 'node:crypto';
import { ReadableStream } from 'node:stream/web';
import { SvcError } from '@svc-asr/sdk';
import { openStream, type StreamEvent } from '@svc-asr/sdk/stream';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { clientOf, hum, KIKUYU, speech, streamOf } from '../emulator-client.ts';
import { expectWhole } from './expect-whole.ts';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega mũno'] });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

function session(maxAudioSeconds = 60) {
  return clientOf(emulator).sessions.create({ model: KIKUYU, maxAudioSeconds });
}

async function chargedMs(work: () => Promise<unknown>): Promise<number> {
  const client = clientOf(emulator);
  const before = await client.usage.get();
  await work();
  const after = await client.usage.get();
  expect(after.reserved_ms).toBe(0);
  return after.consumed_ms - before.consumed_ms;
}

describe('a stream without failures', () => {
  test('keeps audio written before ready, and the receipt equals the charge', async () => {
    let receipt = 0;
    const charged = await chargedMs(async () => {
      const stream = streamOf(emulator);
      await stream.write(speech(2_300));
      const { text, final } = await stream.finish();
      expect(text).toBe('nĩ wega mũno');
      receipt = final.billable_ms;
    });
    expect(receipt).toBe(3_000);
    expect(charged).toBe(3_000);
  });

  test('each flush gets one final and the stream continues', async () => {
    const stream = streamOf(emulator);
    await stream.write(speech(1_500));
    const first = await stream.flush();
    await stream.write(speech(500));
    const [second, empty] = await Promise.all([stream.flush(), stream.flush()]);
    expect([first.utterance, second.utterance, empty.utterance]).toEqual([0, 1, 2]);
    expect(empty).toMatchObject({ text: '', audio_ms: 0 });
    await stream.finish();
    expect(stream.transcript.text).toBe('nĩ wega mũno nĩ wega mũno');
  });

  test('for await yields deltas and finals and ends with the stream', async () => {
    const stream = streamOf(emulator);
    const events: StreamEvent[] = [];
    const reading = (async () => {
      for await (const event of stream) events.push(event);
    })();
    await stream.write(speech(3_000));
    await stream.finish();
    await reading;
    const types = events.map((event) => event.type);
    expect(types[0]).toBe('ready');
    expect(types).toContain('delta');
    expect(types.at(-1)).toBe('final');
  });

  test('a ReadableStream can be piped in and ends the stream', async () => {
    const stream = streamOf(emulator);
    const audio = ReadableStream.from([speech(700), speech(600), new Uint8Array(3)]);
    await audio.pipeTo(stream.writable);
    expect(stream.transcript.text).toBe('nĩ wega mũno');
    expect(stream.transcript.finals[0]?.audio_ms).toBe(1_301);
  });

  test('reset drops the audio since the last flush', async () => {
    const stream = streamOf(emulator);
    await stream.write(speech(1_000));
    await stream.flush();
    await stream.write(speech(2_000));
    await stream.reset();
    await stream.write(speech(1_000));
    const { finals } = await stream.finish();
    expect(finals.map((final) => [final.start_ms, final.end_ms])).toEqual([
      [0, 1_000],
      [3_000, 4_000],
    ]);
  });

  test('skipped time is free and counts in the times', async () => {
    const charged = await chargedMs(async () => {
      const stream = streamOf(emulator);
      await stream.write(speech(1_000));
      await stream.flush();
      stream.skip(60_000);
      await stream.write(speech(1_000));
      const { finals } = await stream.finish();
      expect(finals[1]).toMatchObject({ start_ms: 61_000, end_ms: 62_000 });
    });
    expect(charged).toBe(2_000);
  });
});

describe('failures that a stream survives', () => {
  test.each([
    ['engine-crash', 1011, 'internal_error'],
    ['engine-hang', 1011, 'internal_error'],
    ['restart', 1012, 'service_restart'],
    ['slow-start', 1013, 'initialization_timeout'],
    ['connection-lost', 1006, 'connection_lost'],
    ['expired-credential', 1006, 'session_credential_expired'],
  ] as const)('%s: replays the audio to the next session', async (name, code, reason) => {
    emulator.faults.arm({ name, ms: 1_500, times: 1 });
    const stream = streamOf(emulator);
    const closes: [number, string][] = [];
    stream.on('reconnecting', ({ close }) => closes.push([close.code, close.reason]));
    // More than the server reads before it pauses: a flush that it has read gets its final before the close.
    await stream.write(speech(8_000));
    const { text, finals } = await stream.finish();
    expect(closes).toEqual([[code, reason]]);
    expect(text).toBe('nĩ wega mũno');
    expectWhole(finals, 8_000);
  });

  test('audio that is sent again after a lost connection is charged once', async () => {
    emulator.faults.arm({ name: 'connection-lost', ms: 2_500, times: 1 });
    const charged = await chargedMs(async () => {
      const stream = streamOf(emulator);
      await stream.write(randomBytes(8_000 * 32));
      const { finals } = await stream.finish();
      expectWhole(finals, 8_000);
    });
    // Each of the two sessions rounds up to whole seconds.
    expect(charged).toBeGreaterThanOrEqual(8_000);
    expect(charged).toBeLessThanOrEqual(9_000);
  });

  test.each(['restart', 'connection-lost'] as const)(
    '%s occurs in a full-speed stream that reaches it, and not in a shorter one',
    async (name) => {
      emulator.faults.arm({ name, ms: 2_000, times: 1 });
      const short = streamOf(emulator);
      await short.write(speech(1_900));
      await short.finish();
      expect(emulator.faults.armed).toHaveLength(1);
      const stream = openStream({ session: await session() });
      await stream.write(speech(2_000));
      void stream.flush();
      const { code } = await stream.closed;
      expect(code).toBe({ restart: 1012, 'connection-lost': 1006 }[name]);
      expect(emulator.faults.armed).toEqual([]);
    },
  );

  test.each(['busy-account', 'rate-limit', 'unavailable'] as const)(
    '%s, twice: retries with the same idempotency key',
    async (name) => {
      emulator.faults.arm({ name, ms: 0, times: 2 });
      const stream = streamOf(emulator);
      await stream.write(speech(1_000));
      expect((await stream.finish()).text).toBe('nĩ wega mũno');
    },
  );

  test('C04 a failed session is not charged, its replay is charged once', async () => {
    const charged = await chargedMs(async () => {
      emulator.faults.arm({ name: 'engine-crash', ms: 1_500, times: 3 });
      const stream = streamOf(emulator);
      await stream.write(speech(4_000));
      const { sessions } = await stream.finish();
      expect(sessions.map((each) => each.billableMs)).toEqual([0, 0, 0, 4_000]);
    });
    expect(charged).toBe(4_000);
  });

  test('a pending flush gets its final from the next session after a failure', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 1_500, times: 1 });
    const stream = streamOf(emulator);
    await stream.write(speech(1_000));
    const first = stream.flush();
    await stream.write(speech(1_000));
    const second = stream.flush();
    expect((await first).end_ms).toBe(1_000);
    expect(await second).toMatchObject({ start_ms: 1_000, end_ms: 2_000 });
    await stream.finish();
  });

  test('a new session can be created right after a close', async () => {
    for (let round = 0; round < 5; round += 1) {
      const stream = streamOf(emulator);
      await stream.write(speech(200));
      await stream.finish();
    }
    expect((await clientOf(emulator).usage.get()).reserved_ms).toBe(0);
  });
});

describe('the audio limit', () => {
  test('moves to a new session in a pause before the limit, and transcribes everything once', async () => {
    const charged = await chargedMs(async () => {
      const stream = streamOf(emulator, { maxAudioSeconds: 8 });
      for (let second = 0; second < 30; second += 1) await stream.write(speech(1_000));
      const { finals, sessions } = await stream.finish();
      expectWhole(finals, 30_000);
      expect(finals.map((final) => final.reason)).not.toContain('max_audio_reached');
      expect(sessions.length).toBeGreaterThan(3);
    });
    // Each session is rounded up once.
    expect(charged).toBeLessThan(36_000);
  });

  test('without a pause it uses the session to its last sample, and transcribes everything once', async () => {
    const stream = streamOf(emulator, { maxAudioSeconds: 2 });
    await stream.write(hum(7_000));
    const { finals } = await stream.finish();
    expectWhole(finals, 7_000);
    expect(finals.filter((final) => final.reason === 'max_audio_reached')).toHaveLength(3);
  });

  test('without getSession the stream ends at the limit, complete if everything is final', async () => {
    const stream = openStream({ session: await session(2) });
    await stream.write(hum(2_000));
    expect((await stream.finish()).text).toBe('nĩ wega mũno');
    expect(await stream.closed).toMatchObject({ code: 1000 });
    const longer = openStream({ session: await session(2) });
    await longer.write(hum(3_000));
    await expect(longer.finish()).rejects.toMatchObject({ code: 'max_audio_reached' });
    expect(longer.transcript.text).toBe('nĩ wega mũno');
  });
});

describe('endings', () => {
  test('without credit the stream ends with insufficient_credits at once', async () => {
    emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
    const stream = streamOf(emulator);
    const failed = stream.write(speech(100)).then(() => stream.finish());
    await expect(failed).rejects.toMatchObject({ code: 'insufficient_credits', status: 402 });
    expect(await stream.closed).toMatchObject({ reason: 'insufficient_credits', retryable: false });
  });

  test('without getSession an error has the code, reason, session id and request id', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 500, times: 1 });
    const one = await session();
    const stream = openStream({ session: one });
    await stream.write(speech(1_000));
    expect(await stream.closed).toMatchObject({
      code: 1011,
      reason: 'internal_error',
      retryable: true,
      sessionId: one.id,
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
  });

  test('W02 reports a session that was already used, even though the socket never opened', async () => {
    const one = await session();
    const first = openStream({ session: one });
    await first.write(speech(100));
    await first.flush();
    const second = openStream({ session: one });
    expect(await second.closed).toMatchObject({
      reason: 'session_credential_used',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    expect((await first.finish()).text).toBe('nĩ wega mũno');
  });

  test('an unhandled error event and unawaited promises do not crash the process', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 100, times: 1 });
    const stream = openStream({ session: await session() });
    void stream.write(speech(1_000));
    void stream.flush();
    void stream.finish().catch(() => {});
    expect(await stream.closed).toMatchObject({ code: 1011 });
    void stream.write(speech(10));
    void stream.flush();
    void stream.reset();
  });

  test('a failed stream throws once in for await', async () => {
    emulator.faults.arm({ name: 'engine-crash', ms: 100, times: 1 });
    const stream = openStream({ session: await session() });
    void stream.write(speech(1_000));
    const reading = (async () => {
      for await (const _ of stream);
    })();
    await expect(reading).rejects.toBeInstanceOf(SvcError);
  });

  test('rejects audio that is not PCM', async () => {
    const stream = openStream({ getSession: () => session() });
    const floats: unknown = new Float32Array(1_600);
    // @ts-expect-error: possible in JavaScript
    await expect(stream.write(floats)).rejects.toMatchObject({ code: 'invalid_audio' });
    expect(await stream.closed).toMatchObject({ reason: 'invalid_audio', retryable: false });
  });

  test('an abort ends the stream at once, before and after the session is created', async () => {
    const early = new AbortController();
    const stream = streamOf(emulator, { signal: early.signal });
    early.abort();
    expect(await stream.closed).toMatchObject({ reason: 'aborted' });

    const late = new AbortController();
    const running = streamOf(emulator, { signal: late.signal });
    await running.write(speech(100));
    await running.flush();
    late.abort();
    expect(await running.closed).toMatchObject({ reason: 'aborted' });
    await expect(running.flush()).rejects.toMatchObject({ code: 'aborted' });
  });
});
