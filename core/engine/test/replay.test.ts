import { array, assert, asyncProperty, constantFrom, integer, oneof, record } from 'fast-check';
import { CHUNK_SAMPLES, type ModelId } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import {
  createScriptedEngine,
  EngineBusy,
  withReplay,
  type Engine,
  type EngineEvent,
  type EngineStream,
  type OpenInput,
  type ReplayEngine,
  type ReplayOptions,
  type ScriptedEngine,
  type ScriptedOptions,
} from '../src/index.ts';
import { ReplayLimiter } from '../src/replay/replay-limiter.ts';
import { finals, read, type Reading } from '@svc-asr/testing/speech/event-reader.ts';

const MODEL: ModelId = 'svc-asr-kikuyu-v1';
const TEXT = 'tũgũthoma mabuku maitũ mothe rũciinĩ tene';
const never = new AbortController().signal;
const NO_FAILURES = { too_long: 0, no_slot: 0, too_many_losses: 0, different_text: 0 };
const chunks = (count: number): Uint8Array => new Uint8Array(count * CHUNK_SAMPLES * 2);
const errors = (reading: Reading): readonly EngineEvent[] =>
  reading.seen.filter((event) => event.type === 'error');

function start(
  scripted: ScriptedOptions = {},
  options: ReplayOptions = {},
): { inner: ScriptedEngine; engine: ReplayEngine } {
  const inner = createScriptedEngine({ script: { texts: [TEXT] }, ...scripted });
  return { inner, engine: withReplay(inner, options) };
}

test('continues on another recogniser without an error, a lost word or a repeated delta', async () => {
  const { inner, engine } = start();
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(2));
  await reading.until('delta', 2);
  inner.crash();
  await stream.write(chunks(2));
  stream.flush();
  await reading.until('final');
  const texts = reading.seen.map((event) => event.type !== 'error' && event.text);
  expect(texts).toEqual(['tũgũthoma mabuku', 'tũgũthoma mabuku maitũ mothe', TEXT, TEXT]);
  expect(reading.seen.map((event) => event.type !== 'error' && event.utterance)).toEqual([
    0, 0, 0, 0,
  ]);
  expect(engine.replays()).toMatchObject({ replayed: 1, failed: NO_FAILURES, waiting: 0 });
  await stream.close();
});

type Step = { do: 'write'; samples: number } | { do: 'flush' } | { do: 'reset' } | { do: 'crash' };

/** Counts the samples that recognisers get, including those that get them again. */
function counting(engine: Engine): { engine: Engine; samples: () => number } {
  let samples = 0;
  async function open(input: OpenInput): Promise<EngineStream> {
    const stream = await engine.open(input);
    const write = stream.write.bind(stream);
    return Object.assign(stream, {
      write: (pcm: Uint8Array) => {
        samples += pcm.byteLength / 2;
        return write(pcm);
      },
    });
  }
  return { engine: { ...engine, open }, samples: () => samples };
}

/** An engine whose recognisers are always crowded, so streams move whenever they may. */
function crowded(engine: ScriptedEngine): { engine: Engine; opened: () => number } {
  let opened = 0;
  async function open(input: OpenInput): Promise<EngineStream> {
    opened += 1;
    return Object.assign(await engine.open(input), { isCrowded: true });
  }
  return { engine: { ...engine, open }, opened: () => opened };
}

/** Runs these steps and returns the finals. */
async function take(
  steps: readonly Step[],
  { crashes = false, moves = false }: { crashes?: boolean; moves?: boolean },
): Promise<readonly EngineEvent[]> {
  const inner = createScriptedEngine({ script: { texts: [TEXT] } });
  const engine = withReplay(moves ? crowded(inner).engine : inner);
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  let flushes = 1;
  for (const step of steps) {
    if (step.do === 'write') await stream.write(new Uint8Array(step.samples * 2));
    if (step.do === 'reset') stream.reset();
    if (step.do === 'crash' && crashes) inner.crash();
    if (step.do !== 'flush') continue;
    stream.flush();
    flushes += 1;
  }
  stream.flush();
  await reading.until('final', flushes);
  await stream.close();
  expect(errors(reading)).toEqual([]);
  expect(engine.replays().bytes).toBe(0);
  return reading.seen.filter((event) => event.type === 'final');
}

test('crashes and moves at any moment change no final, whatever is written, flushed or reset', async () => {
  const write = record({
    do: constantFrom('write' as const),
    samples: integer({ min: 1, max: 3 * CHUNK_SAMPLES }),
  });
  const other = record({ do: constantFrom('flush' as const, 'reset' as const) });
  const steps = array(oneof(write, other), { maxLength: 12 });
  const cut = integer({ min: 0, max: 12 });
  await assert(
    asyncProperty(steps, cut, cut, async (plain, first, second) => {
      const disturbed: Step[] = [...plain];
      disturbed.splice(first, 0, { do: 'crash' });
      disturbed.splice(second, 0, { do: 'crash' });
      const undisturbed = await take(disturbed, {});
      expect(await take(disturbed, { crashes: true })).toEqual(undisturbed);
      expect(await take(disturbed, { crashes: true, moves: true })).toEqual(undisturbed);
    }),
    { numRuns: 200 },
  );
});

test('leaves a crowded recogniser between two utterances, and never during one', async () => {
  const { engine: inner, opened } = crowded(createScriptedEngine({ script: { texts: [TEXT] } }));
  const engine = withReplay(inner);
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(2));
  await reading.until('delta', 2);
  expect(opened()).toBe(1);
  stream.flush();
  await reading.until('final');
  await stream.write(chunks(1));
  stream.flush();
  await stream.write(chunks(1));
  await reading.until('final', 2);
  // The second final found a whole chunk of the third utterance, so the stream stayed.
  expect(opened()).toBe(2);
  await expect.poll(() => inner.health().active).toBe(1);
  expect(engine.replays()).toMatchObject({ replayed: 0, failed: NO_FAILURES, recovering: 0 });
  await stream.close();
  expect(inner.health().active).toBe(0);
});

test('stays where it is when no other recogniser is free', async () => {
  const scripted = createScriptedEngine({ capacity: 1, script: { texts: [TEXT] } });
  const stream = await withReplay(crowded(scripted).engine).open({ model: MODEL, signal: never });
  const reading = read(stream);
  for (let turn = 1; turn <= 3; turn += 1) {
    await stream.write(chunks(1));
    stream.flush();
    await reading.until('final', turn);
  }
  expect(finals(reading.seen)).toEqual([TEXT, TEXT, TEXT]);
  await stream.close();
});

test('a stream that finds no other recogniser sends no audio twice', async () => {
  const scripted = createScriptedEngine({ capacity: 1, script: { texts: [TEXT], chunkMs: 20 } });
  const { engine, samples } = counting(crowded(scripted).engine);
  const stream = await withReplay(engine).open({ model: MODEL, signal: never });
  const reading = read(stream);
  for (let turn = 1; turn <= 3; turn += 1) {
    void stream.write(chunks(1));
    stream.flush();
    // The next utterance begins before the final, and the stream tries to move when the final arrives.
    void stream.write(new Uint8Array(CHUNK_SAMPLES));
    await reading.until('final', turn);
    await stream.write(new Uint8Array(2));
  }
  stream.flush();
  await reading.until('final', 4);
  expect(samples()).toBe(3 * (CHUNK_SAMPLES + CHUNK_SAMPLES / 2 + 1));
  const total = reading.seen.reduce(
    (sum, one) => sum + (one.type === 'final' ? one.samples : 0),
    0,
  );
  expect(total).toBe(samples());
  await stream.close();
});

test('answers flushes that were pending when the recogniser was lost, once each', async () => {
  const { inner, engine } = start({ script: { texts: [TEXT], chunkMs: 5 } });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  void stream.write(chunks(1));
  stream.flush();
  void stream.write(chunks(2));
  stream.flush();
  inner.crash();
  void stream.write(chunks(1));
  stream.reset();
  stream.flush();
  const all = await reading.until('final', 3);
  expect(finals(all)).toEqual([TEXT, TEXT, '']);
  expect(all.map((event) => event.type === 'final' && event.utterance)).toEqual([0, 1, 3]);
  await stream.close();
});

test('holds the writer back until the recogniser has caught up', async () => {
  const opens: (() => void)[] = [];
  const { inner, engine } = start();
  const held: Engine = {
    ...inner,
    open: async (input) => {
      if (input.replay !== undefined) await new Promise<void>((go) => opens.push(go));
      return inner.open(input);
    },
  };
  const replaying = withReplay(held);
  const stream = await replaying.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(1));
  inner.crash();
  await expect.poll(() => opens.length).toBe(1);
  let taken = false;
  const write = stream.write(chunks(1)).then(() => (taken = true));
  await new Promise((resolve) => setImmediate(resolve));
  expect(taken).toBe(false);
  opens[0]?.();
  await write;
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([TEXT]);
  await stream.close();
  await engine.close();
});

test('fails once when an utterance is longer than the replay buffer, and only that one', async () => {
  const { inner, engine } = start({}, { secondsPerStream: 2 });
  const long = await engine.open({ model: MODEL, signal: never });
  const short = await engine.open({ model: MODEL, signal: never });
  const [longReading, shortReading] = [read(long), read(short)];
  await long.write(chunks(2));
  long.flush();
  await longReading.until('final');
  await long.write(chunks(1));
  inner.crash();
  await expect.poll(() => engine.replays().replayed).toBe(2);
  expect(errors(longReading)).toEqual([]);
  await long.write(chunks(1));
  inner.crash();
  expect((await longReading.ended).at(-1)).toEqual({ type: 'error', reason: 'child_died' });
  await short.write(chunks(1));
  short.flush();
  expect(finals(await shortReading.until('final'))).toEqual([TEXT]);
  expect(engine.replays().failed).toMatchObject({ too_long: 1 });
  expect(engine.replays().bytes).toBe(0);
  await short.close();
});

test('stays within its memory limit: a stream without a buffer fails on a loss, the others survive', async () => {
  const { inner, engine } = start({}, { megabytes: 0.1 });
  const streams = await Promise.all(
    Array.from({ length: 4 }, () => engine.open({ model: MODEL, signal: never })),
  );
  const readings = streams.map(read);
  for (const stream of streams) await stream.write(new Uint8Array(30_000));
  expect(engine.replays().bytes).toBeLessThanOrEqual(100_000);
  inner.crash();
  for (const stream of streams) stream.flush();
  const last = await Promise.all(
    readings.map(async (reading) => {
      await reading.until('final');
      return reading.seen.at(-1)?.type;
    }),
  );
  expect(last).toEqual(['final', 'final', 'final', 'error']);
  for (const stream of streams) await stream.close();
  expect(engine.replays().bytes).toBe(0);
});

test('replays only with the weights that the utterance began with', async () => {
  const { inner } = start();
  const upgraded: Engine = {
    ...inner,
    open: (input) =>
      input.replay !== undefined && input.replay.build !== 'new'
        ? Promise.reject(new EngineBusy())
        : inner.open(input),
  };
  const engine = withReplay(upgraded, { slotWithinMs: 50 });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(1));
  inner.crash();
  expect((await reading.ended).at(-1)).toEqual({ type: 'error', reason: 'child_died' });
  expect(engine.replays().failed).toMatchObject({ no_slot: 1 });
});

test('fails rather than change text that it called stable', async () => {
  const { inner, engine } = start({
    script: ({ ordinal }) => ({ texts: [ordinal === 0 ? TEXT : 'ũhoro waku mũrata wakwa mwega'] }),
  });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(1));
  await reading.until('delta');
  inner.crash();
  await stream.write(chunks(1));
  expect((await reading.ended).at(-1)).toEqual({ type: 'error', reason: 'child_died' });
  expect(engine.replays().failed).toMatchObject({ different_text: 1 });
});

test('fails a stream whose audio kills every recogniser', async () => {
  const inner = createScriptedEngine({ script: { texts: [TEXT], crashAfterSamples: 1_000 } });
  let opened = 0;
  const engine = withReplay({
    ...inner,
    open(input) {
      opened += 1;
      return inner.open(input);
    },
  });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(1));
  expect(await reading.ended).toEqual([{ type: 'error', reason: 'child_died' }]);
  expect(opened).toBe(6);
  expect(engine.replays().failed).toEqual({ ...NO_FAILURES, too_many_losses: 1 });
});

test('keeps slots for streams that wait for a recogniser', async () => {
  const { inner } = start({ capacity: 1 });
  let isOpen = true;
  const gone: Engine = {
    ...inner,
    open: (input) => (isOpen ? inner.open(input) : Promise.reject(new EngineBusy())),
  };
  const engine = withReplay(gone);
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  await stream.write(chunks(1));
  isOpen = false;
  inner.crash();
  await expect.poll(() => engine.replays().waiting).toBe(1);
  isOpen = true;
  expect(engine.health()).toMatchObject({ active: 1, capacity: 1 });
  await expect(engine.open({ model: MODEL, signal: never })).rejects.toThrow(EngineBusy);
  stream.flush();
  expect(finals(await reading.until('final'))).toEqual([TEXT]);
  await stream.close();
});

test('closing the engine ends a stream that waits for a recogniser', async () => {
  const { inner } = start();
  const engine = withReplay({
    ...inner,
    open: (input) =>
      input.replay === undefined ? inner.open(input) : Promise.reject(new EngineBusy()),
  });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  inner.crash();
  await expect.poll(() => engine.replays().waiting).toBe(1);
  await engine.close();
  expect(await reading.ended).toEqual([{ type: 'error', reason: 'engine_closed' }]);
});

test('limits concurrent replays per recogniser', async () => {
  const limiter = new ReplayLimiter(2);
  const entered: string[] = [];
  const leaves = ['a', 'a', 'a', 'b'].map(async (name, at) => {
    const leave = await limiter.enter(name);
    entered.push(`${name}${at}`);
    return leave;
  });
  (await leaves[3])?.();
  expect(entered).toEqual(['a0', 'a1', 'b3']);
  (await leaves[0])?.();
  (await leaves[2])?.();
  expect(entered).toEqual(['a0', 'a1', 'b3', 'a2']);
});

test('every recogniser gets the keyterms of an utterance before its audio, also after a loss', async () => {
  const inner = createScriptedEngine({ script: { texts: [TEXT] } });
  const calls: string[][] = [];
  async function open(input: OpenInput): Promise<EngineStream> {
    const stream = await inner.open(input);
    const seen: string[] = [];
    calls.push(seen);
    const { write, flush, reset } = {
      write: stream.write.bind(stream),
      flush: stream.flush.bind(stream),
      reset: stream.reset.bind(stream),
    };
    return Object.assign(stream, {
      expect: (keyterms: readonly string[]) => void seen.push(`expect ${keyterms.join(',')}`),
      write: (pcm: Uint8Array) => {
        if (pcm.byteLength > 0 && seen.at(-1) !== 'audio') seen.push('audio');
        return write(pcm);
      },
      flush: () => {
        seen.push('flush');
        flush();
      },
      reset: () => {
        seen.push('reset');
        reset();
      },
    });
  }
  const engine = withReplay({ ...inner, open });
  const stream = await engine.open({ model: MODEL, signal: never });
  const reading = read(stream);
  stream.expect(['one']);
  await stream.write(chunks(1));
  stream.expect(['two']);
  await stream.write(chunks(1));
  await reading.until('delta');
  inner.crash();
  stream.flush();
  await stream.write(chunks(1));
  stream.flush();
  stream.expect(['three']);
  stream.reset();
  await stream.write(chunks(1));
  stream.flush();
  await reading.until('final', 3);
  await stream.close();
  expect(calls[0]?.slice(0, 2)).toEqual(['expect one', 'audio']);
  expect(calls[1]?.filter((call) => call !== 'reset').join(' ')).toBe(
    'expect one audio flush expect two audio flush expect three audio flush',
  );
});
