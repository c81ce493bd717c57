import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { initializeLogger, stt } from '@livekit/agents';
import { startEmulator, type Emulator } from '@svc-asr/emulator';
import { SvcClient } from '@svc-asr/sdk';
import { VoiceGate } from '@svc-asr/sdk/audio';
import { openStream, type SvcStream } from '@svc-asr/sdk/stream';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { SvcSTT, type SvcSTTOptions } from '../src/index.ts';
import { SENTENCE_MS, silence, turn } from './audio.ts';

const { SpeechEventType: Type } = stt;
const TEXT = 'nĩ wega mũno';

let emulator: Emulator;
beforeAll(async () => {
  initializeLogger({ pretty: false, level: 'silent' });
  emulator = await startEmulator({ texts: [TEXT], shortestMs: 1_000 });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

function sttOf(options: Partial<SvcSTTOptions> = {}): SvcSTT {
  const client = new SvcClient({ baseUrl: emulator.url, apiKey: emulator.apiKey });
  return new SvcSTT({ client, model: 'svc-asr-kikuyu-v1', silenceMs: 500, ...options });
}

/** Pushes turns one after another, each after END_OF_SPEECH of the previous one. */
async function listen(
  stream: stt.SpeechStream,
  turns: number,
  sampleRate?: number,
): Promise<stt.SpeechEvent[]> {
  const events: stt.SpeechEvent[] = [];
  let left = turns;
  const speak = (): void => {
    for (const frame of turn(1_000, sampleRate)) stream.pushFrame(frame);
  };
  speak();
  for await (const event of stream) {
    events.push(event);
    if (event.type !== Type.END_OF_SPEECH) continue;
    left -= 1;
    if (left > 0) speak();
    else stream.endInput();
  }
  return events;
}

function usages(events: readonly stt.SpeechEvent[]): number[] {
  return events.flatMap(({ recognitionUsage }) => recognitionUsage?.audioDuration ?? []);
}

/** How much of the turns the voice gate passes. */
function sentMs(turns: number): number {
  const gate = new VoiceGate({ holdMs: 500 });
  let samples = 0;
  for (let left = turns; left > 0; left -= 1) {
    for (const { data } of turn(1_000)) {
      for (const output of gate.push(data)) {
        if (output.do === 'send') samples += output.samples.length;
      }
    }
  }
  return samples / 16;
}

test('a turn is START_OF_SPEECH, interim, final with word times, usage, END_OF_SPEECH', async () => {
  const stream = sttOf().stream();
  const events = await listen(stream, 2);
  const types = events.map((event) => event.type);
  expect(types.filter((type) => type !== Type.INTERIM_TRANSCRIPT)).toEqual([
    Type.START_OF_SPEECH,
    Type.FINAL_TRANSCRIPT,
    Type.RECOGNITION_USAGE,
    Type.END_OF_SPEECH,
    Type.START_OF_SPEECH,
    Type.FINAL_TRANSCRIPT,
    Type.RECOGNITION_USAGE,
    Type.END_OF_SPEECH,
  ]);
  expect(types[1]).toBe(Type.INTERIM_TRANSCRIPT);
  const [first, second] = events.filter((event) => event.type === Type.FINAL_TRANSCRIPT);
  const data = first?.alternatives?.[0];
  // LiveKit adds the time until its first attempt: a millisecond or more on a busy machine.
  const startTime = stream.startTimeOffset;
  expect(data).toMatchObject({ text: TEXT, language: 'ki', startTime });
  expect(data?.words?.map((word) => word.text)).toEqual(TEXT.split(' '));
  expect(data?.words?.[1]?.startTime).toBeCloseTo(startTime + 0.56);
  // The silence that was not sent is part of the times.
  expect(second?.alternatives?.[0]?.startTime).toBeGreaterThan((SENTENCE_MS + 500) / 1000);
  expect(usages(events)[0]).toBeCloseTo((SENTENCE_MS + 500) / 1000, 0);
  const end = events.find((event) => event.type === Type.END_OF_SPEECH);
  expect(Date.now() - (end?.speechEndTime ?? 0)).toBeGreaterThan(500);
});

test('eagerMs gives a PREFLIGHT_TRANSCRIPT before the final of the turn', async () => {
  const words = ['ciringi', 'magana', 'matano'];
  emulator.say([words.join(' ')]);
  const stream = sttOf({ silenceMs: 700, eagerMs: 250, numbers: true }).stream();
  for (const frame of turn(450)) stream.pushFrame(frame);
  const events: stt.SpeechEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (event.type === Type.PREFLIGHT_TRANSCRIPT) {
      for (const frame of silence(600)) stream.pushFrame(frame);
    }
    if (event.type === Type.FINAL_TRANSCRIPT) break;
  }
  stream.close();
  emulator.say([TEXT]);
  expect(events[0]?.type).toBe(Type.START_OF_SPEECH);
  for (const type of [Type.PREFLIGHT_TRANSCRIPT, Type.FINAL_TRANSCRIPT]) {
    const [said] = events.find((event) => event.type === type)?.alternatives ?? [];
    // LiveKit keeps its answer only if both texts are the same.
    expect(said).toMatchObject({ text: 'ciringi 500', language: 'ki' });
    expect(said?.words?.map((word) => word.text)).toEqual(words);
  }
});

test('numbers are digits for an agent that asks for them, and words for others', async () => {
  const said = 'ciringi ngiri igĩrĩ na magana matano';
  emulator.say([said]);
  const texts: (string | undefined)[] = [];
  for (const options of [{ numbers: true }, {}]) {
    const events = await listen(sttOf(options).stream(), 1);
    const final = events.find((event) => event.type === Type.FINAL_TRANSCRIPT);
    texts.push(final?.alternatives?.[0]?.text);
  }
  emulator.say([TEXT]);
  expect(texts).toEqual(['ciringi 2500', said]);
});

test('resamples 48 kHz frames', async () => {
  const events = await listen(sttOf().stream(), 1, 48_000);
  const final = events.find((event) => event.type === Type.FINAL_TRANSCRIPT);
  expect(final?.alternatives?.[0]?.text).toBe(TEXT);
});

test.each(['engine-crash', 'restart', 'connection-lost', 'expired-credential'] as const)(
  '%s inside a turn: the turn has all its audio',
  async (name) => {
    emulator.faults.arm({ name, ms: 800, times: 1 });
    const events = await listen(sttOf().stream(), 3);
    const finals = events.filter((event) => event.type === Type.FINAL_TRANSCRIPT);
    expect(finals.map((event) => event.alternatives?.[0]?.text)).toEqual([TEXT, TEXT, TEXT]);
    const seconds = usages(events).slice(0, 3);
    for (const each of seconds) expect(each).toBeGreaterThan((SENTENCE_MS * 0.9) / 1000);
  },
);

type STTError = Parameters<stt.STTCallbacks['error']>[0];
type Seen = stt.SpeechEvent | STTError;

/** Collects the stream's events and the errors of its owner, in the order in which they come. */
async function collect(speech: SvcSTT, turns: number): Promise<Seen[]> {
  const seen: Seen[] = [];
  speech.on('error', (error) => seen.push(error));
  const stream = speech.stream();
  for (let left = turns; left > 0; left -= 1) {
    for (const frame of turn(1_000)) stream.pushFrame(frame);
  }
  stream.endInput();
  for await (const event of stream) seen.push(event);
  return seen;
}

test('an outage is reported before the next final, and the turns spoken meanwhile stay separate', async () => {
  emulator.faults.arm({ name: 'connection-lost', ms: 800, times: 1 });
  const seen = await collect(sttOf(), 3);
  const types = seen.map(({ type }) => type);
  expect(types.indexOf('stt_error')).toBeGreaterThanOrEqual(0);
  expect(types.indexOf('stt_error')).toBeLessThan(types.indexOf(Type.FINAL_TRANSCRIPT));
  const errors = seen.filter((each): each is STTError => each.type === 'stt_error');
  expect(errors[0]).toMatchObject({ recoverable: true, label: 'svc.STT' });
  expect(errors.map(({ error }) => String(error))).toContainEqual(
    expect.stringContaining('connection_lost'),
  );
  const kinds = [Type.START_OF_SPEECH, Type.FINAL_TRANSCRIPT, Type.END_OF_SPEECH];
  expect(types.filter((type) => kinds.some((kind) => kind === type))).toEqual([
    ...kinds,
    ...kinds,
    ...kinds,
  ]);
  const strays: number[] = [];
  let isInTurn = false;
  for (const [at, type] of types.entries()) {
    if (type === Type.START_OF_SPEECH) isInTurn = true;
    if (type === Type.END_OF_SPEECH) isInTurn = false;
    if (type === Type.INTERIM_TRANSCRIPT && !isInTurn) strays.push(at);
  }
  expect(strays).toEqual([]);
});

test('a first session that takes longer than 3 s is reported', async () => {
  emulator.faults.arm({ name: 'unavailable', ms: 0, times: 5 });
  const seen = await collect(sttOf(), 1);
  expect(seen[0]).toMatchObject({ type: 'stt_error', recoverable: true });
  expect(seen.some(({ type }) => type === Type.FINAL_TRANSCRIPT)).toBe(true);
});

test('takes the address, the key and the language like other plugins', async () => {
  const { url: baseUrl, apiKey } = emulator;
  const speech = new SvcSTT({ baseUrl, apiKey, language: 'ki-KE' });
  expect(speech.model).toBe('svc-asr-kikuyu-v1');
  expect(new SvcSTT({ baseUrl, apiKey, language: 'luo' }).model).toBe('svc-asr-dholuo-v1');
  const event = await speech.recognize([...turn(200)]);
  expect(event.alternatives?.[0]).toMatchObject({ text: TEXT, language: 'ki' });
  const refused = { code: 'invalid_language' };
  for (const options of [
    {},
    { language: 'sw' },
    { language: 'luo', model: 'svc-asr-kikuyu-v1' as const },
  ]) {
    expect(() => new SvcSTT({ baseUrl, apiKey, ...options })).toThrow(
      expect.objectContaining(refused),
    );
  }
});

test('metrics report all audio that was sent, once for each final', async () => {
  const speech = sttOf();
  const ms: number[] = [];
  speech.on('metrics_collected', (metrics) => ms.push(metrics.audioDurationMs));
  const events = await listen(speech.stream(), 2);
  expect(ms).toEqual(usages(events).map((seconds) => Math.round(seconds * 1000)));
  expect(ms).toHaveLength(2);
  expect(ms.reduce((sum, each) => sum + each, 0)).toBe(sentMs(2));
  expect(speech.model).toBe('svc-asr-kikuyu-v1');
});

test('without credit the stream reports an error that is not retried', async () => {
  emulator.faults.arm({ name: 'no-credit', ms: 0, times: 1 });
  const speech = sttOf();
  const errors: unknown[] = [];
  speech.on('error', (error) => errors.push(error));
  const stream = speech.stream();
  for (const frame of turn(500)) stream.pushFrame(frame);
  const seen = [];
  for await (const event of stream) seen.push(event);
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatchObject({ recoverable: false, error: { statusCode: 402 } });
});

test('recognize() transcribes a buffer', async () => {
  const event = await sttOf().recognize([...turn(200, 24_000)]);
  expect(event.type).toBe(Type.FINAL_TRANSCRIPT);
  expect(event.alternatives?.[0]?.text).toBe(TEXT);
});

function hasKeyterms(value: unknown): value is Pick<SvcStream, 'setKeyterms'> {
  return typeof Object(value).setKeyterms === 'function';
}

test("the session's keyterms reach an open stream, after your own", async () => {
  const plugin = sttOf({ keyterms: ['Wanjikũ'] });
  expect(plugin.capabilities.keyterms).toBe(true);
  const unused = openStream({ getSession: () => Promise.reject(new Error('unused')) });
  const prototype: unknown = Object.getPrototypeOf(unused);
  if (!hasKeyterms(prototype)) throw new Error('Streams have no setKeyterms.');
  const set = vi.spyOn(prototype, 'setKeyterms');
  const stream = plugin.stream();
  let turns = 0;
  for (const frame of turn(1_000)) stream.pushFrame(frame);
  for await (const { type } of stream) {
    if (type !== Type.END_OF_SPEECH) continue;
    turns += 1;
    if (turns === 2) stream.endInput();
    else {
      plugin['_updateSessionKeyterms'](['Kĩambu', 'Wanjikũ']);
      for (const frame of turn(1_000)) stream.pushFrame(frame);
    }
  }
  expect(set.mock.calls).toEqual([[['Wanjikũ', 'Kĩambu']]]);
  set.mockRestore();
});

test('another language opens a new stream, and no word is lost', async () => {
  const plugin = sttOf();
  const stream = plugin.stream();
  const finals: stt.SpeechData[] = [];
  let isChanged = false;
  for (const frame of turn(0)) stream.pushFrame(frame);
  for await (const { type, alternatives } of stream) {
    if (type === Type.INTERIM_TRANSCRIPT && !isChanged) {
      isChanged = true;
      plugin.updateOptions({ language: 'luo' });
      for (const frame of turn(1_000)) stream.pushFrame(frame);
      stream.endInput();
    }
    if (type === Type.FINAL_TRANSCRIPT) finals.push(...(alternatives ?? []));
  }
  expect(finals.map(({ text, language }) => `${language} ${text}`)).toEqual([
    `ki ${TEXT}`,
    `luo ${TEXT}`,
  ]);
  expect(plugin.model).toBe('svc-asr-dholuo-v1');
  // Counted from the start of the agent's stream.
  const [first, second] = finals;
  expect((second?.startTime ?? 0) - (first?.startTime ?? 0)).toBeGreaterThan(
    SENTENCE_MS / 1000 - 1,
  );
});

test('a call of any length keeps none of its frames', async () => {
  setFlagsFromString('--expose-gc');
  const collectGarbage: () => void = runInNewContext('gc');
  const stream = sttOf().stream();
  let hasSpoken = false;
  const read = (async () => {
    for await (const event of stream) hasSpoken ||= event.type === Type.END_OF_SPEECH;
  })();
  const frames = Array.from(turn(1_000), (frame) => {
    stream.pushFrame(frame);
    return new WeakRef(frame);
  });
  await expect.poll(() => hasSpoken).toBe(true);
  const kept = (): number => {
    collectGarbage();
    return frames.slice(0, 50).filter((frame) => frame.deref() !== undefined).length;
  };
  await expect.poll(kept).toBe(0);
  stream.endInput();
  await read;
});
