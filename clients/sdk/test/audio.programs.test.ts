import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import {
  AudioConverter,
  decodeAlaw,
  decodeMulaw,
  mixToMono,
  readWav,
  Resampler,
  toFloat,
  toPcm16,
  wavToPcm16k,
} from '../src/audio.ts';

const folder = mkdtempSync(join(tmpdir(), 'sdk-audio-'));
afterAll(() => rmSync(folder, { recursive: true }));

/** One second of a tone from ffmpeg, as an independent reference. */
function ffmpegTone(name: string, ...format: string[]): Uint8Array {
  const path = join(folder, name);
  const source = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=1:sample_rate=16000'];
  execFileSync('ffmpeg', ['-v', 'error', '-y', ...source, ...format, path]);
  return readFileSync(path);
}

function tone(hz: number, sampleRateHz: number, seconds = 1): Float32Array {
  return Float32Array.from(
    { length: sampleRateHz * seconds },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hz * at) / sampleRateHz),
  );
}

/** Measures the middle, away from the filter's edges. */
function rms(samples: Float32Array): number {
  const middle = samples.subarray(samples.length / 4, (samples.length * 3) / 4);
  return Math.sqrt(middle.reduce((sum, sample) => sum + sample * sample, 0) / middle.length);
}

function difference(a: Float32Array, b: Float32Array): number {
  return rms(a.map((sample, at) => sample - (b[at] ?? 0)));
}

test.each([8_000, 11_025, 16_000, 22_050, 24_000, 44_100, 48_000])(
  'a tone of 440 Hz at %i Hz is the same tone at 16 kHz',
  (rate) => {
    const resampler = new Resampler(rate);
    const output = join2(resampler.push(tone(440, rate)), resampler.end());
    expect(output.length).toBe(16_000);
    expect(difference(output, tone(440, 16_000))).toBeLessThan(0.001);
  },
);

test('frequencies above 8 kHz are removed, not aliased', () => {
  const resampler = new Resampler(48_000);
  const output = join2(resampler.push(tone(11_000, 48_000)), resampler.end());
  expect(rms(output)).toBeLessThan(0.5 * 10 ** (-60 / 20));
});

test('chunk sizes do not change the samples', () => {
  const input = toFloat(toPcm16(tone(300, 44_100, 0.2)));
  const whole = new Resampler(44_100);
  const expected = join2(whole.push(input), whole.end());
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 3_000 }), { minLength: 1 }), (cuts) => {
      const resampler = new Resampler(44_100);
      let output = new Float32Array(0);
      let at = 0;
      for (const cut of [...cuts, input.length]) {
        output = join2(output, resampler.push(input.subarray(at, at + cut)));
        at += cut;
      }
      expect(join2(output, resampler.end())).toEqual(expected);
    }),
    { numRuns: 50 },
  );
});

test.each([
  ['mulaw', decodeMulaw],
  ['alaw', decodeAlaw],
] as const)('decodes every G.711 %s code as ffmpeg does', (codec, decode) => {
  const codes = Uint8Array.from({ length: 256 }, (_, code) => code);
  const raw = execFileSync(
    'ffmpeg',
    ['-v', 'error', '-f', codec, '-ar', '8000', '-ac', '1', '-i', 'pipe:', '-f', 's16le', 'pipe:'],
    { input: codes },
  );
  expect([...decode(codes)]).toEqual([...new Int16Array(new Uint8Array(raw).buffer)]);
});

test.each([
  ['16-bit', 'pcm_s16le', 16_000, 1],
  ['24-bit stereo at 44.1 kHz', 'pcm_s24le', 44_100, 2],
  ['8-bit', 'pcm_u8', 16_000, 1],
  ['32-bit', 'pcm_s32le', 16_000, 1],
  ['floats at 48 kHz', 'pcm_f32le', 48_000, 2],
  ['telephone mu-law', 'pcm_mulaw', 8_000, 1],
  ['telephone A-law', 'pcm_alaw', 8_000, 1],
] as const)('a WAV file of %s becomes 16 kHz mono', (name, codec, rate, channels) => {
  // ffmpeg lowers the level when it converts mono to stereo.
  const copies = channels === 2 ? ['-af', 'pan=stereo|c0=c0|c1=c0'] : [];
  const file = ffmpegTone(`${name}.wav`, ...copies, '-c:a', codec, '-ar', `${rate}`);
  const original = toFloat(wavToPcm16k(ffmpegTone('plain.wav', '-c:a', 'pcm_s16le')));
  expect(readWav(file)).toMatchObject({ sampleRateHz: rate, channels, durationMs: 1_000 });
  const pcm = toFloat(wavToPcm16k(file));
  expect(Math.abs(pcm.length - 16_000)).toBeLessThanOrEqual(1);
  // Allows the loss of lower bit depths. A wrong conversion differs far more.
  expect(difference(original, pcm)).toBeLessThan(rms(original) * 0.06);
});

test('reads a piped WAV file without a length in its header to its end', () => {
  const file = Uint8Array.from(ffmpegTone('piped.wav', '-c:a', 'pcm_s16le'));
  const size = file.findIndex((_, at) => String.fromCharCode(...file.slice(at, at + 4)) === 'data');
  new DataView(file.buffer).setUint32(size + 4, 0xffff_ffff, true);
  expect(readWav(file).durationMs).toBe(1_000);
});

test('rejects files that are not WAV', () => {
  expect(() => readWav(new Uint8Array(100))).toThrow(/not a WAV file/);
  expect(() => readWav(new TextEncoder().encode('RIFF____WAVEdata'))).toThrow(/no audio/);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), (bytes) => {
      const file = new Uint8Array([...new TextEncoder().encode('RIFF____WAVE'), ...bytes]);
      expect(() => readWav(file)).toThrow(RangeError);
    }),
  );
});

test('mixes channels to their mean', () => {
  expect([...mixToMono(Float32Array.of(1, 0, 0.5, -0.5), 2)]).toEqual([0.5, 0]);
});

test('converts telephone audio cut anywhere, even inside a sample', () => {
  const bytes = Uint8Array.from({ length: 3_200 }, (_, at) => (at * 37) % 256);
  const format = { encoding: 'pcm_s16le', sampleRateHz: 8_000 } as const;
  const whole = new AudioConverter(format);
  const expected = [...whole.push(bytes), ...whole.end()];
  const cut = new AudioConverter(format);
  const pieces = [7, 1, 640, 3].reduce<{ at: number; out: number[] }>(
    ({ at, out }, size) => ({
      at: at + size,
      out: [...out, ...cut.push(bytes.subarray(at, at + size))],
    }),
    { at: 0, out: [] },
  );
  expect([...pieces.out, ...cut.push(bytes.subarray(pieces.at)), ...cut.end()]).toEqual(expected);
});

function join2(a: Float32Array, b: Float32Array): Float32Array<ArrayBuffer> {
  const joined = new Float32Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

test('a converter for an odd rate is ready at once', () => {
  const began = performance.now();
  const converter = new AudioConverter({ encoding: 'pcm_s16le', sampleRateHz: 383_999 });
  expect(converter.push(new Uint8Array(2))).toHaveLength(0);
  // Computing all 16,000 phases of the filter took 13.8 s.
  expect(performance.now() - began).toBeLessThan(1_000);
});

test('16 kHz mono samples pass unchanged, cut anywhere', () => {
  const samples = Int16Array.from({ length: 5_000 }, (_, at) => ((at * 7_919) % 65_536) - 32_768);
  const bytes = new Uint8Array(samples.buffer);
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 3_000 }), (cut) => {
      const converter = new AudioConverter({ encoding: 'pcm_s16le', sampleRateHz: 16_000 });
      const parts: number[] = [];
      for (let at = 0; at < bytes.length; at += cut) {
        parts.push(...converter.push(bytes.subarray(at, at + cut)));
      }
      parts.push(...converter.end());
      expect(Int16Array.from(parts)).toEqual(samples);
    }),
    { numRuns: 20 },
  );
});
