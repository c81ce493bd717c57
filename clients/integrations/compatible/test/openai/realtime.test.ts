import { once } from 'node:events';
import { eventually } from '@svc-asr/testing/eventually.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import {
  NO_FFMPEG,
  startCompatibleService,
  type CompatibleService,
} from '../compatible-service.ts';

const TEXT = 'nĩ wega mũno';
const KIKUYU = 'svc-asr-kikuyu-v1';
const TRANSCRIPTION = 'conversation.item.input_audio_transcription';
/** 100 ms of audible sound at 24 kHz. */
const SOUND = Buffer.from(
  Int16Array.from({ length: 2_400 }, (_, at) => 8_000 * Math.sin(at / 16)).buffer,
);

/** Turn detection hears no speech in a tone. */
const VOICE = Buffer.from(speech('kikuyu-2').pcm);

interface ServerMessage {
  readonly type: string;
  readonly event_id: string;
  readonly [field: string]: unknown;
}

let service: CompatibleService;
beforeAll(async () => {
  service = await startCompatibleService({
    emulator: { texts: [TEXT], shortestMs: 500 },
    config: NO_FFMPEG,
  });
});
afterAll(() => service.stop());
afterEach(() => service.emulator.faults.assertAllMet());

class Client {
  readonly received: ServerMessage[] = [];
  readonly closed: Promise<unknown[]>;
  readonly #socket: WebSocket;

  constructor(socket: WebSocket) {
    this.#socket = socket;
    this.closed = once(socket, 'close');
    socket.on('message', (data: Buffer) => this.received.push(JSON.parse(data.toString('utf8'))));
  }

  send(message: object): void {
    this.#socket.send(JSON.stringify(message));
  }

  append(piece: Buffer, times = 1): void {
    for (let left = times; left > 0; left -= 1) {
      this.send({ type: 'input_audio_buffer.append', audio: piece.toString('base64') });
    }
  }

  commit(): void {
    this.send({ type: 'input_audio_buffer.commit' });
  }

  configure(turnDetection: object | null, transcription: object = { model: KIKUYU }): void {
    const input = { transcription, turn_detection: turnDetection };
    this.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
  }

  all(type: string): ServerMessage[] {
    return this.received.filter((message) => message.type === type);
  }

  /** Waits until this many messages of a type have arrived, and returns the last of them. */
  async until(type: string, count = 1): Promise<ServerMessage> {
    await eventually(() => this.all(type).length >= count);
    const [last] = this.all(type).slice(count - 1);
    if (last === undefined) throw new Error(`No ${type}.`);
    return last;
  }

  close(): void {
    this.#socket.close();
  }
}

async function connect(
  options: { path?: string; key?: string; headers?: Record<string, string> } = {},
): Promise<Client> {
  const { path = '/v1/realtime?intent=transcription', key = service.emulator.apiKey } = options;
  const headers = { authorization: `Bearer ${key}`, ...options.headers };
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}${path}`, { headers });
  const client = new Client(socket);
  await once(socket, 'open');
  return client;
}

test('session.created comes first, and session.update is answered with the settings in force', async () => {
  const client = await connect();
  expect(await client.until('session.created')).toBe(client.received[0]);
  client.configure({ type: 'server_vad', silence_duration_ms: 50 });
  expect(await client.until('session.updated')).toMatchObject({
    session: {
      type: 'transcription',
      audio: {
        input: {
          format: { type: 'audio/pcm', rate: 24_000 },
          transcription: { model: KIKUYU },
          // The service's least.
          turn_detection: { type: 'server_vad', silence_duration_ms: 200 },
        },
      },
    },
  });
  client.close();
  await client.closed;
});

test('semantic_vad is replaced by server_vad, and named', async () => {
  const client = await connect();
  client.configure({ type: 'semantic_vad' });
  expect(await client.until('session.updated')).toMatchObject({
    session: {
      audio: { input: { turn_detection: { type: 'server_vad' } } },
      svc_ignored_parameters: ['audio.input.turn_detection.type'],
    },
  });
  client.close();
  await client.closed;
});

test('a commit gets committed, deltas that form the transcript, and one completed', async () => {
  const client = await connect();
  client.configure(null);
  client.append(SOUND, 10);
  client.commit();
  const completed = await client.until(`${TRANSCRIPTION}.completed`);
  expect(completed).toMatchObject({
    transcript: TEXT,
    content_index: 0,
    languages: [{ code: 'ki' }],
  });
  const types = client.received.map(({ type }) => type);
  expect(types).not.toContain('input_audio_buffer.speech_started');
  expect(types.indexOf('input_audio_buffer.committed')).toBeLessThan(
    types.indexOf(`${TRANSCRIPTION}.completed`),
  );
  const deltas = client.all(`${TRANSCRIPTION}.delta`);
  expect(deltas.map(({ delta }) => delta).join('')).toBe(TEXT);
  const ids = new Set(deltas.map(({ item_id }) => item_id));
  expect([...ids]).toEqual([completed['item_id']]);
  const events = client.received.map(({ event_id }) => event_id);
  expect(new Set(events).size).toBe(events.length);
  client.close();
  await client.closed;
});

/** A counter of this door. */
function seconds(name: string): number {
  const line = new RegExp(`^${name}{door="realtime"} (.*)$`, 'm');
  return Number(line.exec(service.server.metrics.text())?.[1] ?? 0);
}

function untilAllEnded(): Promise<void> {
  return eventually(() => /^svc_compatible_streams 0$/m.test(service.server.metrics.text()));
}

test('metrics count the audio of ended streams and its charge', async () => {
  await untilAllEnded();
  const before = {
    audio: seconds('svc_compatible_audio_seconds_total'),
    billed: seconds('svc_compatible_billed_seconds_total'),
  };
  const client = await connect();
  client.configure(null);
  client.append(SOUND, 12);
  client.commit();
  await client.until(`${TRANSCRIPTION}.completed`);
  client.close();
  await client.closed;
  await eventually(() => seconds('svc_compatible_audio_seconds_total') > before.audio);
  await untilAllEnded();
  expect(seconds('svc_compatible_audio_seconds_total') - before.audio).toBeCloseTo(1.2, 1);
  expect(seconds('svc_compatible_billed_seconds_total') - before.billed).toBe(2);
});

test('a commit without audio is completed with an empty transcript', async () => {
  const client = await connect();
  client.configure(null);
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: '' });
  client.append(SOUND, 10);
  client.commit();
  client.commit();
  await client.until(`${TRANSCRIPTION}.completed`, 3);
  const transcripts = client.all(`${TRANSCRIPTION}.completed`).map(({ transcript }) => transcript);
  expect(transcripts).toEqual(['', TEXT, '']);
  expect(client.all('error')).toEqual([]);
  client.close();
  await client.closed;
});

test('with turn detection a pause ends the turn', async () => {
  const client = await connect();
  const input = {
    format: { type: 'audio/pcm', rate: 16_000 },
    transcription: { model: KIKUYU },
    turn_detection: { type: 'server_vad', silence_duration_ms: 700 },
  };
  client.send({ type: 'session.update', session: { type: 'transcription', audio: { input } } });
  for (const turn of [1, 2]) {
    client.append(Buffer.from(speech('kikuyu-2').pcm));
    // A second and a half.
    client.append(Buffer.alloc(48_000));
    await client.until(`${TRANSCRIPTION}.completed`, turn);
  }
  const seen = client.received
    .map(({ type }) => type)
    .filter((type) => !type.startsWith('session') && !type.endsWith('.delta'));
  const turn = [
    'input_audio_buffer.speech_started',
    'input_audio_buffer.speech_stopped',
    'input_audio_buffer.committed',
    'conversation.item.added',
    'conversation.item.done',
    `${TRANSCRIPTION}.completed`,
  ];
  expect(seen).toEqual([...turn, ...turn]);
  client.close();
  await client.closed;
});

test('clear drops audio that was not committed', async () => {
  const client = await connect();
  client.configure({ type: 'server_vad', silence_duration_ms: 5_000 });
  client.append(VOICE);
  await client.until('input_audio_buffer.speech_started');
  client.send({ type: 'input_audio_buffer.clear' });
  await client.until('input_audio_buffer.cleared');
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: '' });
  client.close();
  await client.closed;
});

test('beta clients get transcription_session events and conversation.item.created', async () => {
  const client = await connect({ headers: { 'openai-beta': 'realtime=v1' } });
  await client.until('transcription_session.created');
  client.send({
    type: 'transcription_session.update',
    session: {
      input_audio_format: 'g711_ulaw',
      input_audio_transcription: { model: 'whisper-1', language: 'luo' },
      turn_detection: null,
    },
  });
  expect(await client.until('transcription_session.updated')).toMatchObject({
    session: { input_audio_format: 'g711_ulaw', input_audio_transcription: { language: 'luo' } },
  });
  // A square wave in mu-law.
  client.append(
    Buffer.from(Array.from({ length: 8_000 }, (_, at) => (at % 40 < 20 ? 0x90 : 0x10))),
  );
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({
    languages: [{ code: 'luo' }],
  });
  expect(client.all('conversation.item.created')).toHaveLength(1);
  client.close();
  await client.closed;
});

test('a session.update to another language finishes the turn and continues in that language', async () => {
  const client = await connect();
  client.configure(null);
  client.append(SOUND, 10);
  client.configure(null, { model: 'svc-asr-dholuo-v1' });
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: TEXT });
  client.append(SOUND, 10);
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`, 2)).toMatchObject({
    transcript: TEXT,
    languages: [{ code: 'luo' }],
  });
  client.close();
  await client.closed;
});

test.each([
  ['the path', '/ki/v1/realtime', { model: 'gpt-4o-transcribe', language: 'en' }],
  ['the query', `/v1/realtime?model=${KIKUYU}`, {}],
])('takes the language from %s', async (_, path, transcription) => {
  const client = await connect({ path });
  client.configure(null, transcription);
  client.append(SOUND, 10);
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({
    languages: [{ code: 'ki' }],
  });
  client.close();
  await client.closed;
});

test.each(['restart', 'engine-crash', 'connection-lost'] as const)(
  '%s in mid-speech: the turn has all of its text',
  async (name) => {
    service.emulator.faults.arm({ name, ms: 800, times: 1 });
    const client = await connect();
    client.configure(null);
    client.append(SOUND, 20);
    client.commit();
    expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: TEXT });
    expect(client.all('error')).toEqual([]);
    client.close();
    await client.closed;
  },
);

test('no credit: the connection gets our message as an error event, then closes', async () => {
  service.emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
  const client = await connect();
  client.configure(null);
  client.append(SOUND, 1);
  client.commit();
  expect(await client.until('error')).toMatchObject({
    error: {
      type: 'insufficient_quota',
      code: 'insufficient_quota',
      svc_code: 'insufficient_credits',
    },
  });
  expect((await client.closed)[0]).toBe(1008);
});

test('a wrong key gets our message as an error event, without a request to the service', async () => {
  const client = await connect({ key: 'sk-proj-0123' });
  expect(await client.until('error')).toMatchObject({
    error: { type: 'invalid_request_error', code: 'invalid_api_key' },
  });
  expect((await client.closed)[0]).toBe(1008);
});

test('refuses connections from web pages', async () => {
  const client = await connect({ headers: { origin: 'https://example.com' } });
  expect(await client.until('error')).toMatchObject({ error: { code: 'origin_not_allowed' } });
  await client.closed;
});

test('refuses other events with an error and goes on, up to ten times', async () => {
  const client = await connect();
  client.configure(null);
  client.send({ type: 'response.create', event_id: 'mine' });
  expect(await client.until('error')).toMatchObject({
    error: { type: 'invalid_request_error', event_id: 'mine' },
  });
  client.send({ type: 'session.update', session: { type: 'realtime' } });
  client.send({ type: 'input_audio_buffer.append', audio: 'not base64' });
  await client.until('error', 3);
  client.append(SOUND, 10);
  client.commit();
  expect(await client.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: TEXT });
  for (let left = 8; left > 0; left -= 1) client.send({ type: 'response.create' });
  expect((await client.closed)[0]).toBe(1008);
  expect(client.all('error')).toHaveLength(11);
});

test('a message above 1 MiB gets an error event before the close with 1009', async () => {
  const client = await connect();
  client.configure(null);
  await client.until('session.updated');
  // The rest of it is still on its way when the server refuses it.
  client.append(Buffer.alloc(15 * 1024 * 1024));
  const [code] = await client.closed;
  expect(code).toBe(1009);
  expect(client.received.at(-1)).toMatchObject({
    type: 'error',
    error: { type: 'invalid_request_error', code: 'message_too_large' },
  });
});

test('without any language the first audio is refused with the ways to name one', async () => {
  const client = await connect();
  client.append(SOUND, 1);
  expect(await client.until('error')).toMatchObject({ error: { code: 'missing_language' } });
  expect((await client.closed)[0]).toBe(1008);
});

test('a client that leaves is not charged for more, and frees its session', async () => {
  const client = await connect();
  client.configure({ type: 'server_vad' });
  client.append(VOICE);
  await client.until('input_audio_buffer.speech_started');
  client.close();
  await client.closed;
  const next = await connect();
  next.configure(null);
  next.append(SOUND, 10);
  next.commit();
  expect(await next.until(`${TRANSCRIPTION}.completed`)).toMatchObject({ transcript: TEXT });
  next.close();
  await next.closed;
});

test('speech that waits for the session of another connection is transcribed whole', async () => {
  const first = await connect();
  first.configure({ type: 'server_vad' });
  first.append(VOICE);
  await first.until('input_audio_buffer.speech_started');
  const second = await connect();
  second.configure(null);
  second.append(SOUND, 20);
  second.commit();
  await second.until('session.updated');
  first.close();
  const completed = await second.until(`${TRANSCRIPTION}.completed`);
  expect(completed).toMatchObject({ transcript: TEXT });
  expect(second.all('error')).toEqual([]);
  second.close();
  await second.closed;
});
