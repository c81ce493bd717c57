import { CHUNK_SAMPLES, type AsrSession } from '@svc-asr/protocol';
import { afterAll, describe, expect, test } from 'vitest';
import { DHOLUO, KIKUYU, startService, type Tenant } from '@svc-asr/testing/service/service.ts';
import { framed, speech, StreamClient } from '@svc-asr/testing/service/stream-client.ts';

const SAYS = ['nĩ wega mũno mũrata', 'tũgũcemania rũciinĩ'];
const svc = await startService({ script: { texts: SAYS } });
afterAll(() => svc.stop());

async function newStream(
  body: { model?: string; max_audio_seconds?: number } = {},
): Promise<{ client: StreamClient; session: AsrSession; tenant: Tenant }> {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const wanted = { model: KIKUYU, max_audio_seconds: 30, ...body };
  const { body: session } = await svc.createSession(wanted, tenant);
  const client = await StreamClient.ready(session, { url: svc.streamUrl });
  return { client, session, tenant };
}

describe('server events', () => {
  test('W04 ready comes first, with chunk_samples and the limits', async () => {
    const { client, session } = await newStream();
    expect(client.events[0]).toEqual({
      type: 'ready',
      chunk_samples: CHUNK_SAMPLES,
      session_id: session.id,
      model: KIKUYU,
      language_code: 'ki',
      encoding: 'pcm_s16le',
      sample_rate_hz: 16_000,
      channels: 1,
      context_size: [56, 13],
      max_audio_ms: 30_000,
      max_frame_bytes: 65_536,
      idle_timeout_ms: 60_000,
      session_time_limit_ms: 900_000,
      keyterms: { max_terms: 100, max_chars: 1_000 },
    });
    await client.close();
  });

  test('W07 delta carries the whole utterance so far, final the whole text, its words and the receipt', async () => {
    const { client } = await newStream();
    for (const frame of framed(speech({ samples: CHUNK_SAMPLES }))) client.send(frame);
    expect(await client.next('delta')).toEqual({
      type: 'delta',
      text: 'nĩ wega',
      utterance: 0,
      stable_chars: 3,
      audio_ms: 1_120,
    });
    for (const frame of framed(speech({ samples: CHUNK_SAMPLES }))) client.send(frame);
    expect((await client.next('delta', 2)).text).toBe('nĩ wega mũno mũrata');
    client.say({ type: 'flush', id: 'first' });
    expect(await client.next('final')).toEqual({
      type: 'final',
      text: SAYS[0],
      utterance: 0,
      reason: 'flush',
      id: 'first',
      start_ms: 0,
      end_ms: 2_240,
      words: [
        { text: 'nĩ', start_ms: 0, end_ms: 560 },
        { text: 'wega', start_ms: 560, end_ms: 1_120 },
        { text: 'mũno', start_ms: 1_120, end_ms: 1_680 },
        { text: 'mũrata', start_ms: 1_680, end_ms: 2_240 },
      ],
      audio_ms: 2_240,
      total_audio_ms: 2_240,
      billable_ms: 3_000,
    });
    await client.close();
  });

  test('after a final the next audio begins the next utterance by itself', async () => {
    const { client } = await newStream();
    await client.send(speech({ ms: 500 })).flush();
    const final = await client.send(speech({ ms: 500 })).flush();
    expect(final).toMatchObject({ utterance: 1, text: SAYS[1], start_ms: 500, end_ms: 1_000 });
    await client.close();
  });

  test('W05 config with only type selects the defaults and is acknowledged', async () => {
    const { client } = await newStream({ model: DHOLUO });
    client.say({ type: 'config' });
    expect(await client.next('config_ack')).toEqual({
      type: 'config_ack',
      language: 'luo',
      context: [56, 13],
      endpointing: false,
      effective: 'now',
      numbers: false,
      ignored: [],
    });
    await client.close();
  });

  test('W08 reset starts a fresh utterance in the same session, without a final, and is acknowledged', async () => {
    const { client } = await newStream();
    client.send(speech({ ms: 700 })).say({ type: 'reset', id: 'again' });
    expect(await client.next('reset_ack')).toEqual({
      type: 'reset_ack',
      id: 'again',
      utterance: 1,
      discarded_ms: 700,
      total_audio_ms: 700,
    });
    const final = await client.send(speech({ ms: 300 })).flush();
    expect(final).toMatchObject({
      utterance: 1,
      text: SAYS[0],
      audio_ms: 300,
      total_audio_ms: 1_000,
    });
    expect(client.ofType('final')).toHaveLength(1);
    await client.close();
  });

  test('reset with a pending flush: the final comes first', async () => {
    const { client } = await newStream();
    client
      .send(speech({ ms: 300 }))
      .say({ type: 'flush' })
      .say({ type: 'reset' });
    await client.next('reset_ack');
    expect(client.events.map((event) => event.type)).toEqual(['ready', 'final', 'reset_ack']);
    await client.close();
  });

  test('W09 a stream error is an error event with a message, a code, and the session and request ids', async () => {
    const { client, session } = await newStream();
    client.say('this is not JSON');
    const error = await client.next('error');
    expect(error).toMatchObject({
      code: 'invalid_message',
      fatal: false,
      retryable: false,
      session_id: session.id,
    });
    expect(error.message.length).toBeGreaterThan(10);
    expect(error.request_id).toMatch(/^[0-9a-f-]{36}$/);
    expect(client.requestId, 'the 101 already contained the request id').toBe(error.request_id);
    await client.close();
  });

  test.each([
    ['unknown_message_type', { type: 'stop' }],
    ['language_mismatch', { type: 'config', language: 'luo' }],
    ['unsupported_context', { type: 'config', context: [70, 13] }],
  ])('reports %s and keeps the stream open', async (code, message) => {
    const { client } = await newStream();
    client.say(message);
    await client.error(code);
    expect((await client.send(speech({ ms: 200 })).flush()).total_audio_ms).toBe(200);
    await client.close();
  });

  test('flush_throttled: the sixth flush of a second is refused in its place, retryable, with its id', async () => {
    const { client } = await newStream();
    for (let at = 0; at < 6; at += 1) client.say({ type: 'flush', id: at });
    expect(await client.error('flush_throttled')).toMatchObject({ retryable: true, id: 5 });
    expect(client.events.map((event) => event.type)).toEqual([
      'ready',
      ...Array.from({ length: 5 }, () => 'final'),
      'error',
    ]);
    await client.close();
  });

  test.each([1, 0, -2.5, Number.MAX_SAFE_INTEGER, 'a'])(
    'returns an id of %s unchanged',
    async (id) => {
      const { client } = await newStream();
      client.say({ type: 'config', id }).say({ type: 'flush', id }).say({ type: 'reset', id });
      expect((await client.next('config_ack')).id).toBe(id);
      expect((await client.next('final')).id).toBe(id);
      expect((await client.next('reset_ack')).id).toBe(id);
      await client.close();
    },
  );

  test('an error about a message carries its id', async () => {
    const { client } = await newStream();
    client.say({ type: 'stop', id: 7 });
    expect(await client.error('unknown_message_type')).toMatchObject({ id: 7 });
    client.say({ type: 'config', language: 'luo', id: 'l' });
    expect(await client.error('language_mismatch')).toMatchObject({ id: 'l' });
    await client.close();
  });

  test('a burst of 60 valid config messages is acknowledged', async () => {
    const { client } = await newStream();
    for (let at = 0; at < 60; at += 1) client.say({ type: 'config', id: at });
    expect((await client.next('config_ack', 60)).id).toBe(59);
    expect(client.ofType('error')).toEqual([]);
    await client.close();
  });

  test('an empty flush has equal start and end', async () => {
    const { client } = await newStream();
    await client.send(speech({ samples: 1_601 })).flush();
    expect(await client.flush()).toMatchObject({ start_ms: 101, end_ms: 101, audio_ms: 0 });
    await client.close();
  });

  test('suspicious_audio: detects a command in a binary frame, also after the first second', async () => {
    const { client } = await newStream();
    client.send(speech({ ms: 1_500 })).send(Buffer.from('{"type":"flush"}'));
    expect((await client.status('suspicious_audio')).hint).toMatch(/text frames/);
    await client.close();
  });

  test('odd_byte_carried: an odd byte is joined to the next frame', async () => {
    const { client } = await newStream();
    const pcm = speech({ ms: 100 });
    client.send(pcm.subarray(0, 1_601)).send(pcm.subarray(1_601));
    await client.status('odd_byte_carried');
    expect((await client.flush()).total_audio_ms).toBe(100);
    await client.close();
  });

  test.each(['flush', 'reset', 'config'])(
    'a %s between two halves of a sample keeps both',
    async (type) => {
      const { client } = await newStream();
      const pcm = speech({ samples: 3_201 });
      client.send(pcm.subarray(0, 3_201)).say({ type }).send(pcm.subarray(3_201));
      client.say({ type: 'flush', id: 'last' });
      await client.next('final', type === 'flush' ? 2 : 1);
      expect(client.ofType('final').at(-1)).toMatchObject({ id: 'last', total_audio_ms: 201 });
      await client.close();
    },
  );

  test('suspicious_audio: detects a WAV header', async () => {
    const { client } = await newStream();
    client.send(Buffer.concat([Buffer.from('RIFF'), speech({ ms: 100 })]));
    expect((await client.status('suspicious_audio')).hint).toMatch(/WAV/);
    await client.close();
  });

  test('limit_warning: ten seconds before the limit', async () => {
    const { client } = await newStream({ max_audio_seconds: 11 });
    for (const frame of framed(speech({ ms: 1_000 }))) client.send(frame);
    expect((await client.status('limit_warning')).remaining_ms).toBe(10_000);
    await client.close();
  });

  test('W04 drops audio sent before ready, does not meter it, and reports it once', async () => {
    const slow = await startService({ script: { texts: SAYS, openMs: 300 } });
    const { body: session } = await slow.createSession();
    const client = await StreamClient.open(session, { url: slow.streamUrl });
    client.send(speech({ ms: 100 })).send(speech({ ms: 100 }));
    await client.next('error');
    expect(client.events.map((event) => event.type)).toEqual(['ready', 'error']);
    expect(client.ofType('error')[0]).toMatchObject({ code: 'audio_before_ready', fatal: false });
    expect((await client.send(speech({ ms: 100 })).flush()).total_audio_ms).toBe(100);
    await client.close();
    await slow.stop();
  });
});

describe('frames', () => {
  test('W06 65,536 bytes of audio are accepted', async () => {
    const { client } = await newStream();
    client.send(speech({ samples: 32_768 }));
    expect((await client.flush()).total_audio_ms).toBe(2_048);
    await client.close();
  });

  test('W06 65,537 bytes are refused: message_too_large, then 1009', async () => {
    const { client } = await newStream();
    client.send(Buffer.alloc(65_537, 7));
    expect(await client.error('message_too_large')).toMatchObject({
      fatal: true,
      close_code: 1009,
    });
    expect(await client.closed).toEqual({ code: 1009, reason: 'message_too_large' });
  });

  test('text of 16 KiB is read, one byte more: message_too_large, then 1009', async () => {
    const { client } = await newStream();
    client.say(paddedFlush(16_384));
    await client.next('final');
    client.say(paddedFlush(16_385));
    await client.error('message_too_large');
    expect(await client.closed).toEqual({ code: 1009, reason: 'message_too_large' });
  });
});

/** A flush message of exactly this many bytes. */
function paddedFlush(bytes: number): string {
  return `{"type":"flush"}${' '.repeat(bytes - 16)}`;
}
