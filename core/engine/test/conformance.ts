import { array, assert, asyncProperty, boolean, integer } from 'fast-check';
import type { ModelId } from '@svc-asr/protocol';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import {
  EngineBusy,
  EngineFailed,
  type Engine,
  type EngineEvent,
  type EngineStream,
} from '../src/index.ts';
import { finals, read, type Reading } from '@svc-asr/testing/speech/event-reader.ts';

/** An engine under test with three slots, and functions that inject faults. */
export interface Subject {
  readonly engine: Engine;
  readonly model: ModelId;
  /** At least two chunks of audio, and its transcript. */
  readonly speech: { readonly pcm: Uint8Array; readonly text: string };
  crash(): void;
  hang(): void;
}

/** Slots of every engine under test. */
export const CAPACITY = 3;
const REPORT_MS_MAX = 3_000;
const never = new AbortController().signal;

/** Tests the behaviour that every engine guarantees. */
export function testEngine(
  name: string,
  start: () => Promise<Subject>,
  options: { readonly onLoss: 'error' | 'replay' } = { onLoss: 'error' },
): void {
  describe(`${name} engine`, () => {
    const under = startTested(start);
    testsOfText(under, { cuts: 12 });
    testsOfSlots(under);
    testsOfFaults(under, { start, ...options });
  });
}

/** Tests the part of it that depends on the recogniser: the text. */
export function testText(name: string, start: () => Promise<Subject>): void {
  describe(`text of ${name}`, () => {
    testsOfText(startTested(start), { cuts: 3 });
  });
}

interface Tested {
  readonly subject: Subject;
  readonly engine: Engine;
  /** Opens a stream that is closed after the test. */
  readonly open: () => Promise<{ stream: EngineStream; reading: Reading }>;
  readonly pcm: () => Uint8Array;
}

function startTested(start: () => Promise<Subject>): Tested {
  let subject: Subject | undefined;
  let opened: EngineStream[] = [];
  const under: Tested = {
    get subject() {
      if (subject === undefined) throw new Error('The engine has not started.');
      return subject;
    },
    get engine() {
      return under.subject.engine;
    },
    async open() {
      const stream = await under.engine.open({ model: under.subject.model, signal: never });
      opened.push(stream);
      return { stream, reading: read(stream) };
    },
    pcm: () => under.subject.speech.pcm.slice(),
  };
  beforeAll(async () => {
    subject = await start();
  });
  afterEach(async () => {
    for (const stream of opened) await stream.close();
    opened = [];
    await expect
      .poll(() => under.engine.health())
      .toMatchObject({ ready: true, active: 0, capacity: CAPACITY });
  });
  afterAll(() => under.engine.close());
  return under;
}

function testsOfText(under: Tested, { cuts: numRuns }: { readonly cuts: number }): void {
  test('deltas grow, keep their stable text and end in one final', async () => {
    const { stream, reading } = await under.open();
    for (const frame of frames(under.pcm(), 3_200)) await stream.write(frame);
    await reading.until('delta');
    stream.flush();
    const [final] = await reading.until('final');
    expect(final).toMatchObject({ text: under.subject.speech.text, utterance: 0 });
    expect(final).toHaveProperty('samples', under.pcm().length / 2);
    expect(reading.seen.at(-1)?.type).toBe('final');
    expectGrowingText(reading.seen);
    expect(reading.seen.filter((event) => event.type === 'delta')).not.toEqual([]);
  });

  test('words are timed in order and inside the audio', async () => {
    const { stream, reading } = await under.open();
    await stream.write(under.pcm());
    stream.flush();
    const [final] = await reading.until('final');
    if (final?.type !== 'final') throw new Error('no final');
    let beforeMs = 0;
    for (const word of final.words) {
      expect(word.startMs).toBeGreaterThanOrEqual(beforeMs);
      expect(word.endMs).toBeGreaterThanOrEqual(word.startMs);
      beforeMs = word.startMs;
    }
    expect(final.words.at(-1)?.endMs).toBeLessThanOrEqual(under.pcm().length / 32);
  });

  test('every flush has exactly one final, in order, also without audio', async () => {
    const { stream, reading } = await under.open();
    stream.flush();
    void stream.write(under.pcm());
    stream.flush();
    stream.flush();
    void stream.write(under.pcm());
    stream.flush();
    const all = await reading.until('final', 4);
    const { text } = under.subject.speech;
    expect(finals(all)).toEqual(['', text, '', text]);
    expect(all.map((event) => event.type === 'final' && event.utterance)).toEqual([0, 1, 2, 3]);
    await stream.close();
    expect(finals(await reading.ended)).toHaveLength(4);
  });

  test('a reset drops the unfinished utterance and answers the flushes before it', async () => {
    const { stream, reading } = await under.open();
    void stream.write(under.pcm());
    stream.flush();
    void stream.write(under.pcm());
    stream.reset();
    stream.flush();
    void stream.write(under.pcm());
    stream.flush();
    const all = await reading.until('final', 3);
    const { text } = under.subject.speech;
    expect(finals(all)).toEqual([text, '', text]);
    expect(all.map((event) => event.type === 'final' && event.utterance)).toEqual([0, 2, 3]);
  });

  test('the text does not depend on how the audio is cut', async () => {
    const cuts = array(integer({ min: 1, max: 32_768 }), { minLength: 1, maxLength: 40 });
    await assert(
      asyncProperty(cuts, boolean(), async (samples, patient) => {
        const { stream, reading } = await under.open();
        for (const [at, frame] of [...irregularFrames(under.pcm(), samples)].entries()) {
          const taken = stream.write(frame);
          // Awaits some writes, because a thousand pending ones are an overflow.
          if (patient || at % 500 === 499) await taken;
        }
        stream.flush();
        expect(finals(await reading.until('final'))).toEqual([under.subject.speech.text]);
        await stream.close();
      }),
      { numRuns },
    );
  });

  test('describes its models as the wire does', () => {
    expect(under.engine.describe(under.subject.model)).toMatchObject({
      id: under.subject.model,
      chunkSamples: 17_920,
      contextSize: [56, 13],
    });
  });
}

function testsOfSlots(under: Tested): void {
  test('rejects half a sample and the stream continues', async () => {
    const { stream, reading } = await under.open();
    await expect(stream.write(new Uint8Array(3))).rejects.toThrow(RangeError);
    await stream.write(under.pcm());
    stream.flush();
    expect(finals(await reading.until('final'))).toEqual([under.subject.speech.text]);
  });

  test('write() does not block forever when nobody reads events', async () => {
    const stream = await under.engine.open({ model: under.subject.model, signal: never });
    for (let times = 0; times < 10; times += 1) await stream.write(under.pcm());
    await stream.close();
    expect(under.engine.health().active).toBe(0);
  });

  test('no events follow close, and close is idempotent', async () => {
    const { stream, reading } = await under.open();
    const taken = stream.write(under.pcm());
    stream.flush();
    await stream.close();
    await taken;
    const seen = reading.seen.length;
    await stream.write(under.pcm());
    stream.flush();
    stream.reset();
    await stream.close();
    expect(await reading.ended).toHaveLength(seen);
    expect(under.engine.health().active).toBe(0);
  });

  test('slots are exclusive and released on close', async () => {
    const opened = await Promise.all(Array.from({ length: CAPACITY }, under.open));
    expect(under.engine.health()).toMatchObject({
      ready: true,
      active: CAPACITY,
      capacity: CAPACITY,
    });
    await expect(under.engine.open({ model: under.subject.model, signal: never })).rejects.toThrow(
      EngineBusy,
    );
    await opened[0]?.stream.close();
    const { stream, reading } = await under.open();
    await stream.write(under.pcm());
    stream.flush();
    expect(finals(await reading.until('final'))).toEqual([under.subject.speech.text]);
  });

  test('an aborted open rejects and leaks no slot', async () => {
    const reason = new Error('aborted by the caller');
    const before = AbortSignal.abort(reason);
    await expect(under.engine.open({ model: under.subject.model, signal: before })).rejects.toBe(
      reason,
    );
    const during = new AbortController();
    const opening = under.engine.open({ model: under.subject.model, signal: during.signal });
    during.abort(reason);
    await expect(opening).rejects.toBe(reason);
    expect(under.engine.health().active).toBe(0);
    await Promise.all(Array.from({ length: CAPACITY }, under.open));
  });
}

function testsOfFaults(
  under: Tested,
  { start, onLoss }: { start: () => Promise<Subject>; onLoss: 'error' | 'replay' },
): void {
  const faults = ['crash', 'hang'] as const;

  test.each(onLoss === 'error' ? faults : [])('reports a %s once, within 3 s', async (fault) => {
    const { stream, reading } = await under.open();
    await stream.write(under.pcm());
    await reading.until('delta');
    under.subject[fault]();
    const beganMs = performance.now();
    const writes = Array.from({ length: 20 }, () => stream.write(under.pcm()));
    stream.flush();
    const reason = fault === 'crash' ? 'child_died' : 'child_stalled';
    const seen = await reading.ended;
    expect(performance.now() - beganMs).toBeLessThan(REPORT_MS_MAX);
    expect(seen.at(-1)).toEqual({ type: 'error', reason });
    expect(seen.filter((event) => event.type === 'error')).toHaveLength(1);
    await Promise.all(writes);
    await stream.write(under.pcm());
    await stream.close();
    expect(under.engine.health().active).toBe(0);
  });

  test.each(onLoss === 'replay' ? faults : [])('recovers completely from a %s', async (fault) => {
    const { stream, reading } = await under.open();
    const middle = 2 * under.engine.describe(under.subject.model).chunkSamples;
    await stream.write(under.pcm().slice(0, middle));
    await reading.until('delta');
    under.subject[fault]();
    for (const frame of frames(under.pcm().slice(middle), 3_200)) await stream.write(frame);
    stream.flush();
    stream.flush();
    await reading.until('final', 2);
    expect(finals(reading.seen)).toEqual([under.subject.speech.text, '']);
    expect(reading.seen.filter((event) => event.type === 'error')).toEqual([]);
    expectGrowingText(reading.seen);
    const deltas = reading.seen.filter((event) => event.type === 'delta');
    expect(new Set(deltas.map((event) => event.text)).size).toBe(deltas.length);
  });

  test('closing the engine ends every stream with one error and refuses new ones', async () => {
    const { engine: closing, model } = await start();
    const streams = await Promise.all([
      closing.open({ model, signal: never }),
      closing.open({ model, signal: never }),
    ]);
    const readings = streams.map(read);
    void streams[0].write(under.pcm());
    const opening = closing.open({ model, signal: never });
    await Promise.all([expect(opening).rejects.toThrow(EngineFailed), closing.close()]);
    for (const reading of readings) {
      const errors = (await reading.ended).filter((event) => event.type === 'error');
      expect(errors).toEqual([{ type: 'error', reason: 'engine_closed' }]);
      expect(reading.seen.at(-1)?.type).toBe('error');
    }
    expect(closing.health()).toMatchObject({ ready: false, active: 0 });
    await expect(closing.open({ model, signal: never })).rejects.toThrow(EngineFailed);
    await closing.close();
  });
}

/** Every event of one utterance keeps the text that an earlier one called stable. */
function expectGrowingText(events: readonly EngineEvent[]): void {
  let before = { utterance: 0, stable: '', samples: 0 };
  for (const event of events) {
    if (event.type === 'error') throw new Error(event.reason);
    const { utterance, text, samples } = event;
    if (utterance !== before.utterance) before = { utterance, stable: '', samples: 0 };
    expect(text.startsWith(before.stable)).toBe(true);
    expect(samples).toBeGreaterThanOrEqual(before.samples);
    const spoken = event.type === 'final' ? event.words.map((word) => word.text).join(' ') : text;
    expect(spoken).toBe(text);
    const stableLength = event.type === 'delta' ? event.stableLength : text.length;
    before = { utterance, stable: text.slice(0, stableLength), samples };
  }
}

function* frames(pcm: Uint8Array, bytes: number): Generator<Uint8Array> {
  for (let at = 0; at < pcm.length; at += bytes) yield pcm.slice(at, at + bytes);
}

function* irregularFrames(pcm: Uint8Array, samples: readonly number[]): Generator<Uint8Array> {
  for (let at = 0, turn = 0; at < pcm.length; turn += 1) {
    const bytes = (samples[turn % samples.length] ?? 1) * 2;
    yield pcm.slice(at, at + bytes);
    at += bytes;
  }
}
