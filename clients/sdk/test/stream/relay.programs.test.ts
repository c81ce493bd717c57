import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { relay } from '@svc-asr/sdk/relay';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { clientOf, streamOf } from '../emulator-client.ts';

const SPEECH = join(import.meta.dirname, '../../../../core/models/fixtures/kikuyu-1.wav');
const SPEECH_MS = 2_941;
const TEXT = 'nĩ wega mũno';

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: [TEXT] });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

function opus(format: 'ogg' | 'webm'): Buffer {
  const args = ['-v', 'error', '-i', SPEECH, '-c:a', 'libopus', '-b:a', '24k', '-f', format, '-'];
  return execFileSync('ffmpeg', args);
}

function* cut(bytes: Buffer, size: number): Generator<Buffer> {
  for (let at = 0; at < bytes.byteLength; at += size) yield bytes.subarray(at, at + size);
}

test.each(['ogg', 'webm'] as const)(
  'transcribes all of an %s note cut anywhere',
  async (format) => {
    const stream = streamOf(emulator);
    await relay(stream, cut(opus(format), 3));
    const { text, finals } = await stream.finish();
    expect(text).toBe(TEXT);
    expect(Math.abs((finals.at(-1)?.end_ms ?? 0) - SPEECH_MS)).toBeLessThan(40);
  },
);

test('transcribes MediaRecorder chunks while they arrive', async () => {
  const stream = streamOf(emulator);
  const delta = Promise.withResolvers<string>();
  stream.on('delta', ({ text }) => delta.resolve(text));
  const chunks = [...cut(opus('webm'), 1_000)];
  async function* live(): AsyncGenerator<Uint8Array> {
    yield* chunks.slice(0, -1);
    // The last chunk is recorded only after the first words were recognised.
    await delta.promise;
    yield* chunks.slice(-1);
  }
  await relay(stream, live());
  expect((await stream.finish()).text).toBe(TEXT);
});

test('loses nothing when the service fails during a note', async () => {
  emulator.faults.arm({ name: 'connection-lost', ms: 1_000, times: 1 });
  const stream = streamOf(emulator);
  await relay(stream, [opus('ogg')]);
  const { text, finals } = await stream.finish();
  expect(text).toBe(TEXT);
  expect(finals[0]?.start_ms).toBe(0);
});

test.each([
  ['unsupported_audio', [Buffer.from('RIFF....WAVE')]],
  ['unsupported_audio', []],
  ['unreadable_audio', [Buffer.concat([Buffer.from('OggS'), Buffer.alloc(5_000, 7)])]],
] as const)('%s is reported, and the stream stays usable', async (code, source) => {
  const stream = streamOf(emulator);
  await expect(relay(stream, source)).rejects.toMatchObject({ code });
  await relay(stream, [opus('ogg')]);
  expect((await stream.finish()).text).toBe(TEXT);
});

test('reports a missing ffmpeg and a note beyond the limit', async () => {
  const stream = streamOf(emulator);
  const missing = relay(stream, [opus('ogg')], { ffmpeg: '/nowhere/ffmpeg' });
  await expect(missing).rejects.toMatchObject({ code: 'missing_ffmpeg' });
  const large = relay(stream, [opus('ogg')], { bytesMax: 100 });
  await expect(large).rejects.toMatchObject({ code: 'audio_too_large' });
  await stream.close();
});

/** Silence in Opus. */
function silence(seconds: number): Buffer {
  const source = ['-f', 'lavfi', '-i', 'anullsrc=r=16000:cl=mono', '-t', String(seconds)];
  const opus60 = '-c:a libopus -compression_level 0 -b:a 6k -frame_duration 60'.split(' ');
  return execFileSync('ffmpeg', ['-v', 'error', ...source, ...opus60, '-f', 'ogg', '-'], {
    maxBuffer: 8 << 20,
  });
}

test('by default, 10 minutes of a longer note are written, however small its file', async () => {
  let writtenMs = 0;
  const stream = Object.assign(streamOf(emulator), {
    write: async (pcm: Uint8Array) => void (writtenMs += pcm.byteLength / 32),
  });
  const note = silence(610);
  expect(note.byteLength).toBeLessThan(512 * 1024);
  await expect(relay(stream, [note])).rejects.toMatchObject({ code: 'audio_too_long' });
  expect(writtenMs).toBe(600_000);
  await stream.close();
});

test('audio beyond durationMsMax is not charged', async () => {
  const { usage } = clientOf(emulator);
  const before = await usage.get();
  const stream = streamOf(emulator, { maxAudioSeconds: 10 });
  const long = relay(stream, [silence(33)], { durationMsMax: 30_000 });
  await expect(long).rejects.toMatchObject({ code: 'audio_too_long' });
  await stream.close();
  await expect.poll(async () => (await usage.get()).reserved_ms).toBe(0);
  const { consumed_ms } = await usage.get();
  expect(consumed_ms - before.consumed_ms).toBeGreaterThan(20_000);
  // Each change of sessions may send a second twice, and each session is rounded up.
  expect(consumed_ms - before.consumed_ms).toBeLessThanOrEqual(36_000);
});

test('durationMsMax is exact: audio of that length passes, 100 ms less is refused', async () => {
  const stream = streamOf(emulator);
  await relay(stream, [silence(2)], { durationMsMax: 2_000 });
  const long = relay(stream, [silence(2)], { durationMsMax: 1_900 });
  await expect(long).rejects.toMatchObject({ code: 'audio_too_long', retryable: false });
  await stream.close();
});
