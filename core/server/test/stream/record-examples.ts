import { startSherpaEngine } from '@svc-asr/engine';
import type { AsrSession, ServerEvent } from '@svc-asr/protocol';
import * as example from '@svc-asr/protocol/documents/example-ids.ts';
import { DHOLUO, KIKUYU, startService, type Service } from '@svc-asr/testing/service/service.ts';
import { framed, speech as noise, StreamClient } from '@svc-asr/testing/service/stream-client.ts';
import { MODELS_DIR, speech } from '@svc-asr/testing/speech/fixtures.ts';
import { wavOf } from '@svc-asr/testing/speech/wav.ts';

/** Records the examples of the published documents from a running service. Ids, times and secrets are replaced. */
export interface Recorded {
  readonly events: Readonly<Record<string, ServerEvent>>;
  readonly sessions: Readonly<Record<string, AsrSession>>;
  /** The events of a session with two sentences, without deltas, whose number depends on the machine. */
  readonly conversation: readonly ServerEvent[];
}

const SILENCE = Buffer.alloc(16_000 * 2);
const ORIGIN = 'https://app.example.com';

export async function recordExamples(): Promise<Recorded> {
  const sherpa = await startSherpaEngine({ modelsDir: MODELS_DIR, children: 1 });
  const svc = await startService({ parts: { engine: sherpa } });
  const events = new Map<string, ServerEvent>();
  const sessions = new Map<string, AsrSession>();
  let conversation: ServerEvent[] = [];
  try {
    for (const record of [turns, commands, warnings, limits]) await record(svc, events);
    conversation = await twoSentences(svc);
    await reservations(svc, sessions);
    await svc.stop();
    await restarts(() => startService({ parts: { engine: sherpa } }), events);
  } finally {
    await sherpa.close();
  }
  await numbers(events);
  await eager(events);
  await failures(events);
  return { events: sorted(events), sessions: sorted(sessions), conversation };
}

type Events = Map<string, ServerEvent>;

/** A turn that ends at a pause. */
async function turns(svc: Service, events: Events): Promise<void> {
  const client = await open(svc);
  events.set('ready', await client.next('ready'));
  client.say({ type: 'config', id: 'turns', endpointing: { silence_ms: 700 }, punctuate: true });
  events.set('config_ack', await client.next('config_ack'));
  await say(client, Buffer.from(speech('kikuyu-1').pcm));
  await say(client, SILENCE);
  events.set('speech_started', await client.next('speech_started'));
  events.set('speech_ended', await client.next('speech_ended'));
  events.set('final_endpoint', await client.next('final'));
  events.set('delta', await client.next('delta'));
  await client.close();
}

/** Two sentences with a pause of 1.5 s between them, as in docs/concepts/turns.md. */
async function twoSentences(svc: Service): Promise<ServerEvent[]> {
  const client = await open(svc);
  client.say({ type: 'config', endpointing: { silence_ms: 700 } });
  const pause = SILENCE.subarray(0, 16_000);
  for (const name of ['kikuyu-1', 'kikuyu-3']) {
    await say(client, Buffer.concat([speech(name).pcm, SILENCE, pause]));
    await client.next('final', name === 'kikuyu-1' ? 1 : 2);
  }
  await client.close();
  return client.events.filter(({ type }) => !['ready', 'delta'].includes(type));
}

/** Flush, reset, and a message that is refused. */
async function commands(svc: Service, events: Events): Promise<void> {
  const client = await open(svc, { model: DHOLUO });
  await say(client, Buffer.from(speech('dholuo-1').pcm));
  client.say({ type: 'flush', id: 'turn-1' });
  events.set('final_flush', await client.next('final'));
  client.send(noise({ ms: 640 })).say({ type: 'reset', id: 7 });
  events.set('reset_ack', await client.next('reset_ack'));
  client.say({ type: 'config', id: 'language', language: 'ki' });
  events.set('error_non_fatal', await client.next('error'));
  await client.close();
}

/** Audio that looks wrong. */
async function warnings(svc: Service, events: Events): Promise<void> {
  const wav = await open(svc);
  wav.send(wavOf(speech('kikuyu-1').pcm).subarray(0, 3_200));
  events.set('status_suspicious_audio', await wav.status('suspicious_audio'));
  await wav.close();
  const odd = await open(svc);
  odd.send(noise({ ms: 100 }).subarray(1));
  events.set('status_odd_byte_carried', await odd.status('odd_byte_carried'));
  await odd.close();
}

/** The audio limit. */
async function limits(svc: Service, events: Events): Promise<void> {
  const warned = await open(svc, { max_audio_seconds: 12 });
  for (const frame of framed(noise({ ms: 2_000 }))) warned.send(frame);
  events.set('status_limit_warning', await warned.status('limit_warning'));
  await warned.close();
  const full = await open(svc, { max_audio_seconds: 2 });
  for (const frame of framed(Buffer.from(speech('kikuyu-1').pcm))) full.send(frame);
  await full.closed;
  events.set('final_max_audio_reached', await full.next('final'));
}

/** A session, its replay, and one that gets less than it asked for. */
async function reservations(svc: Service, sessions: Map<string, AsrSession>): Promise<void> {
  const body = { model: KIKUYU, max_audio_seconds: 120 };
  const rich = await svc.addTenant({ creditMs: 3_600_000 });
  const first = { ...rich, headers: { 'idempotency-key': 'order-7431' } };
  sessions.set('created', normal((await svc.createSession(body, first)).body));
  const replay = await svc.createSession(body, first);
  if (replay.headers.get('idempotent-replayed') !== 'true') throw new Error('Not a replay.');
  sessions.set('replayed', normal(replay.body));
  const poor = await svc.addTenant({ creditMs: 42_000 });
  sessions.set('reduced', normal((await svc.createSession(body, poor)).body));
}

/** A restart with a stream that ends before the deadline, and one with a stream that doesn't. */
async function restarts(start: () => Promise<Service>, events: Events): Promise<void> {
  const patient = await start();
  const leaving = await open(patient);
  await sayAndWait(leaving, Buffer.from(speech('kikuyu-1').pcm));
  const stopped = patient.stop({ drainMs: 25_000 });
  events.set('status_draining', await leaving.status('draining'));
  await leaving.close();
  events.set('final_closing', await leaving.next('final'));
  await stopped;
  const hasty = await start();
  const staying = await open(hasty);
  await sayAndWait(staying, Buffer.from(speech('kikuyu-1').pcm));
  const ended = hasty.stop({ drainMs: 0 });
  events.set('error_service_restart', await staying.error('service_restart'));
  events.set('final_draining', await staying.next('final'));
  await ended;
}

/** A sentence with an amount, which the fixtures don't have. */
async function numbers(events: Events): Promise<void> {
  const svc = await startService({ script: { texts: ['ciringi ngiri igĩrĩ na magana matano'] } });
  try {
    const client = await open(svc);
    client
      .say({ type: 'config', numbers: true })
      .send(noise({ ms: 2_000 }))
      .say({ type: 'flush' });
    events.set('final_numbers', await client.next('final'));
    await client.close();
  } finally {
    await svc.stop();
  }
}

/** A speaker who goes on after a pause. The bundled models can't say what they heard so far. */
async function eager(events: Events): Promise<void> {
  const turns = [{ text: 'nĩ wega' }, { text: 'mũno', silenceMs: 400 }];
  const svc = await startService({ script: { texts: [], turns } });
  try {
    const client = await open(svc);
    client.say({ type: 'config', endpointing: { silence_ms: 700, eager_ms: 300 } });
    for (const frame of framed(SILENCE.subarray(0, 32 * 960))) client.send(frame);
    for (const frame of framed(SILENCE.subarray(0, 32 * 980))) client.send(frame);
    events.set('turn_eager', await client.next('turn_eager'));
    for (const frame of framed(SILENCE.subarray(0, 32 * 960))) client.send(frame);
    events.set('turn_resumed', await client.next('turn_resumed'));
    await client.close();
  } finally {
    await svc.stop();
  }
}

/** Failures that the real recogniser doesn't have on demand. */
async function failures(events: Events): Promise<void> {
  const started = Promise.withResolvers<void>();
  const svc = await startService({
    script: { texts: ['nĩ wega'], crashAfterSamples: 16_000 },
    capacity: 1,
    engineStarted: started.promise,
  });
  try {
    const tenant = await svc.addTenant({ creditMs: 60_000 });
    const { body } = await svc.createSession({ model: KIKUYU }, tenant);
    const other = await svc.addTenant({ creditMs: 60_000 });
    const { body: late } = await svc.createSession({ model: KIKUYU }, other);
    const client = await StreamClient.open(body, { url: svc.streamUrl });
    events.set('status_loading', await client.status('loading'));
    started.resolve();
    await client.next('ready');
    const refused = await StreamClient.open(late, { url: svc.streamUrl, origin: ORIGIN });
    events.set('error_refused', await refused.next('error'));
    client.send(noise({ ms: 1_500 }));
    events.set('error_internal', await client.error('internal_error'));
    await client.closed;
  } finally {
    await svc.stop();
  }
}

async function open(svc: Service, wanted: object = {}): Promise<StreamClient> {
  const tenant = await svc.addTenant({ creditMs: 60_000 });
  const { body } = await svc.createSession(
    { model: KIKUYU, max_audio_seconds: 60, ...wanted },
    tenant,
  );
  return StreamClient.ready(body, { url: svc.streamUrl });
}

/** Sends whole chunks, each after the delta of the one before, so that every delta covers one chunk. */
async function say(client: StreamClient, pcm: Buffer): Promise<void> {
  const chunkBytes = 17_920 * 2;
  for (let at = 0; at < pcm.byteLength; at += chunkBytes) {
    for (const frame of framed(pcm.subarray(at, at + chunkBytes))) client.send(frame);
    if (at === 0) await client.next('delta');
  }
}

/** Until the server has accepted all of it: the acknowledgement comes after the audio. */
async function sayAndWait(client: StreamClient, pcm: Buffer): Promise<void> {
  await say(client, pcm);
  await client.next('delta', 2);
  client.say({ type: 'config' });
  await client.next('config_ack');
}

function normal(session: AsrSession): AsrSession {
  return {
    ...session,
    id: example.EXAMPLE_SESSION_ID,
    websocket_url: example.EXAMPLE_STREAM_URL,
    websocket_protocols: example.EXAMPLE_PROTOCOLS,
    expires_at: example.EXAMPLE_EXPIRY,
  };
}

function sorted<T>(found: ReadonlyMap<string, T>): Record<string, T> {
  const entries = [...found].toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, value]) => [name, withoutIds(value)]));
}

function withoutIds<T>(value: T): T {
  const ids = { session_id: example.EXAMPLE_SESSION_ID, request_id: example.EXAMPLE_REQUEST_ID };
  const replaced = Object.entries(ids).filter(([name]) => Object.hasOwn(Object(value), name));
  return { ...value, ...Object.fromEntries(replaced) };
}
