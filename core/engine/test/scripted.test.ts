import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { expect, test } from 'vitest';
import { createScriptedEngine, EngineBusy, type StreamScript } from '../src/index.ts';
import { finals, read } from '@svc-asr/testing/speech/event-reader.ts';

const MODEL = 'svc-asr-kikuyu-v1';
const never = new AbortController().signal;
const chunk = (): Uint8Array => new Uint8Array(CHUNK_SAMPLES * 2);

async function openScripted(script: StreamScript) {
  const engine = createScriptedEngine({ script, stalledAfterMs: 5 });
  const stream = await engine.open({ model: MODEL, signal: never });
  return { engine, stream, reading: read(stream) };
}

test('each chunk adds two words and the final has all of them with times', async () => {
  const { stream, reading } = await openScripted({ texts: ['nĩ wega mũno'] });
  await stream.write(chunk());
  await stream.write(new Uint8Array(2));
  stream.flush();
  await reading.until('final');
  expect(reading.seen).toEqual([
    {
      type: 'delta',
      utterance: 0,
      text: 'nĩ wega',
      stableLength: 3,
      samples: CHUNK_SAMPLES,
    },
    {
      type: 'final',
      utterance: 0,
      text: 'nĩ wega mũno',
      samples: CHUNK_SAMPLES + 1,
      words: [
        { text: 'nĩ', startMs: 0, endMs: 560 },
        { text: 'wega', startMs: 560, endMs: 1120 },
        { text: 'mũno', startMs: 1120, endMs: 1120 },
      ],
    },
  ]);
});

test('utterances take the texts in turn; an empty utterance takes none', async () => {
  const { stream, reading } = await openScripted({ texts: ['ĩĩ', 'aca'] });
  for (const bytes of [2, 0, 2, 2]) {
    await stream.write(new Uint8Array(bytes));
    stream.flush();
  }
  expect(finals(await reading.until('final', 4))).toEqual(['ĩĩ', '', 'aca', 'ĩĩ']);
});

test('events carry the utterance number; every flush and reset starts the next', async () => {
  const { stream, reading } = await openScripted({ texts: ['ĩĩ'] });
  stream.flush();
  stream.reset();
  stream.flush();
  const utterances = (await reading.until('final', 2)).map(
    (event) => event.type === 'final' && event.utterance,
  );
  expect(utterances).toEqual([0, 2]);
});

test('crashes at the scripted sample', async () => {
  const { engine, stream, reading } = await openScripted({
    texts: ['nĩ wega mũno'],
    crashAfterSamples: CHUNK_SAMPLES + 1,
  });
  await stream.write(chunk());
  await stream.write(chunk());
  expect((await reading.ended).map((event) => event.type)).toEqual(['delta', 'error']);
  expect(engine.health().active).toBe(0);
});

test('a scripted hang blocks write() until it is detected', async () => {
  const { stream, reading } = await openScripted({ texts: ['nĩ'], hangAfterSamples: 10 });
  await stream.write(chunk());
  expect(await reading.ended).toEqual([{ type: 'error', reason: 'child_stalled' }]);
});

test('a slow chunk blocks write()', async () => {
  const { stream, reading } = await openScripted({ texts: ['nĩ wega'], chunkMs: 20 });
  const beganMs = performance.now();
  await stream.write(chunk());
  expect(performance.now() - beganMs).toBeGreaterThanOrEqual(19);
  expect(await reading.until('delta')).toHaveLength(1);
});

test('a script can refuse an open', async () => {
  const engine = createScriptedEngine({
    script: ({ ordinal }) => ({ texts: ['nĩ'], busy: ordinal === 0 }),
  });
  await expect(engine.open({ model: MODEL, signal: never })).rejects.toThrow(EngineBusy);
  await expect(engine.open({ model: MODEL, signal: never })).resolves.toBeDefined();
});
