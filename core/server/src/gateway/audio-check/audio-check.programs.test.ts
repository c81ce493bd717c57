import { SPEECH } from '@svc-asr/testing/speech/fixtures.ts';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { findWrongEncoding } from './audio-encoding.ts';
import { FORMAT_HINTS } from './audio-format.ts';
import { AudioCheck } from './audio-check.ts';

const FRAME_BYTES = 3_200;

/** Feeds everything in frames of 100 ms, also after a hint, and returns the only hint. */
function hintFor(bytes: Uint8Array): string | null {
  const check = new AudioCheck();
  const hints: string[] = [];
  for (let at = 0; at < bytes.byteLength; at += FRAME_BYTES) {
    const hint = check.examine(bytes.subarray(at, at + FRAME_BYTES))?.hint;
    if (hint !== undefined) hints.push(hint);
  }
  expect(hints.length).toBeLessThan(2);
  return hints[0] ?? null;
}

function bytesOf(samples: Int16Array): Uint8Array {
  return new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
}

/** Returns the detected format. */
function judge(samples: Int16Array): string | null {
  const hint = hintFor(bytesOf(samples));
  return Object.entries(FORMAT_HINTS).find(([, text]) => text === hint)?.[0] ?? hint;
}

const RECORDINGS = SPEECH.map(({ name, pcm }) => ({
  name,
  samples: new Int16Array(Uint8Array.from(pcm).buffer),
}));

/** Linear interpolation, as simple clients do it. */
function resample(samples: Int16Array, ratio: number): Int16Array {
  return new Int16Array(Math.floor((samples.length - 1) * ratio)).map((_, at) => {
    const from = Math.floor(at / ratio);
    const part = at / ratio - from;
    return (samples[from] ?? 0) * (1 - part) + (samples[from + 1] ?? 0) * part;
  });
}

function interleave(left: Int16Array, right: Int16Array): Int16Array {
  return new Int16Array(2 * left.length).map((_, at) =>
    at % 2 === 0 ? (left[at >> 1] ?? 0) : (right[at >> 1] ?? 0),
  );
}

function toFloats(samples: Int16Array): Int16Array {
  return new Int16Array(Float32Array.from(samples, (sample) => sample / 32_768).buffer);
}

/** A synthetic voice: decaying harmonics with a varying pitch. */
function voice(input: { hz: number; seconds?: number; rate?: number }): Int16Array {
  const { hz, seconds = 4, rate = 16_000 } = input;
  let phase = 0;
  return new Int16Array(seconds * rate).map((_, at) => {
    phase += (2 * Math.PI * hz * (1 + 0.1 * Math.sin((at * 6) / rate))) / rate;
    let sum = 0;
    for (let harmonic = 1; harmonic * hz < Math.min(5_000, rate / 2); harmonic += 1) {
      sum += Math.sin(harmonic * phase) / (1 + ((harmonic * hz) / 900) ** 2);
    }
    return 1_500 * sum;
  });
}

/** A deterministic random generator. */
function noise(length: number, amplitude = 6_000): Int16Array {
  let seed = 1;
  return new Int16Array(length).map(() => {
    seed = (seed * 48_271) % 2_147_483_647;
    return ((seed / 2_147_483_647) * 2 - 1) * amplitude;
  });
}

/** ffmpeg's options for each encoding. */
const ENCODINGS = {
  adts: ['-c:a', 'aac', '-b:a', '48k', '-f', 'adts'],
  adts_stereo: ['-ar', '44100', '-ac', '2', '-c:a', 'aac', '-b:a', '128k', '-f', 'adts'],
  mulaw: ['-ar', '8000', '-f', 'mulaw'],
  alaw: ['-ar', '8000', '-f', 'alaw'],
  s16be: ['-f', 's16be'],
  s24le: ['-f', 's24le'],
  s24be: ['-f', 's24be'],
  pcm_8k: ['-ar', '8000', '-f', 's16le'],
} as const;
type Encoding = keyof typeof ENCODINGS;

/** Encodes speech with one run of ffmpeg. The sentence is said twice, because telephone audio takes half the bytes. */
function encode(samples: Int16Array): (name: Encoding) => Uint8Array {
  const folder = mkdtempSync(join(tmpdir(), 'svc-formats-'));
  try {
    const outputs = Object.entries(ENCODINGS).flatMap(([name, to]) => [...to, join(folder, name)]);
    const input = Buffer.concat([bytesOf(samples), bytesOf(samples)]);
    const from = ['-v', 'error', '-f', 's16le', '-ar', '16000', '-ac', '1', '-i', 'pipe:0'];
    execFileSync('ffmpeg', [...from, ...outputs], { input });
    const encoded = new Map(
      Object.keys(ENCODINGS).map((name) => [name, readFileSync(join(folder, name))]),
    );
    return (name) => encoded.get(name) ?? new Uint8Array();
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Chords with decaying notes, up to 4 kHz. */
function music(length: number): Int16Array {
  return new Int16Array(length).map((_, at) => {
    const root = [220, 294, 330, 247][(at >> 13) % 4] ?? 220;
    const loudness = 1_500 * Math.exp(-(at % 8_192) / 6_000);
    const notes = [1, 1.25, 1.5, 2, 4, 8, 12].map((step) =>
      Math.sin((2 * Math.PI * root * step * at) / 16_000),
    );
    return loudness * notes.reduce((sum, note) => sum + note, 0);
  });
}

function tone(hz: number, amplitude: number, length: number): Int16Array {
  return new Int16Array(length).map(
    (_, at) => amplitude * Math.sin((2 * Math.PI * hz * at) / 16_000),
  );
}

function mix(one: Int16Array, other: Int16Array): Int16Array {
  return one.map((sample, at) => sample / 2 + (other[at] ?? 0));
}

describe.each(RECORDINGS)('$name', ({ samples }) => {
  test.each([
    ['as recorded', samples],
    ['from a telephone, at 8 kHz and back', resample(resample(samples, 0.5), 2)],
    ['very quiet', samples.map((sample) => sample / 20)],
    ['under noise', mix(samples, noise(samples.length, 1_000))],
    ['under loud noise', mix(samples, noise(samples.length, 8_000))],
    ['clipped', samples.map((sample) => Math.max(-32_768, Math.min(32_767, sample * 4)))],
    ['with music', mix(samples, music(samples.length))],
    ['without its low frequencies', samples.map((sample, at) => sample - (samples[at - 1] ?? 0))],
  ])('%s raises no alarm', (_, given) => {
    expect(judge(given)).toBeNull();
  });

  test.each([
    ['48 kHz', 'rate', resample(samples, 3)],
    ['44.1 kHz', 'rate', resample(samples, 2.756_25)],
    ['stereo with the same sound on both sides', 'stereo', interleave(samples, samples)],
    ['stereo with one silent side', 'stereo', interleave(samples, new Int16Array(samples.length))],
    ['32-bit floats', 'float32', toFloats(samples)],
  ])('as %s is recognised as %s', (_, wrong, given) => {
    expect(judge(given)).toBe(wrong);
  });

  test('is recognised in every encoding that has a rule', () => {
    const encoded = encode(samples);
    expect(hintFor(encoded('adts'))).toMatch(/AAC/);
    expect(hintFor(encoded('adts_stereo'))).toMatch(/AAC/);
    expect(hintFor(encoded('adts').subarray(100))).toMatch(/AAC/);
    expect(hintFor(encoded('mulaw'))).toBe(FORMAT_HINTS.mulaw);
    expect(hintFor(encoded('alaw'))).toBe(FORMAT_HINTS.alaw);
    expect(hintFor(encoded('s16be'))).toBe(FORMAT_HINTS.big_endian);
    expect(hintFor(encoded('s24le'))).toBe(FORMAT_HINTS.pcm24);
    expect(hintFor(encoded('s24le').subarray(1))).toBe(FORMAT_HINTS.pcm24);
    expect(hintFor(encoded('s24be'))).toBe(FORMAT_HINTS.pcm24);
    // 8 kHz PCM sounds like a high voice, so it must get no hint at all.
    expect(hintFor(encoded('pcm_8k'))).toBeNull();
  });
});

test.each([90, 110, 150, 220, 300])('a synthetic voice of %i Hz raises no alarm', (hz) => {
  expect(judge(voice({ hz }))).toBeNull();
});

test.each([110, 150, 220])('a synthetic voice of %i Hz at 48 kHz is recognised', (hz) => {
  expect(judge(voice({ hz, rate: 48_000 }))).toBe('rate');
});

test.each([
  ['white noise', noise(64_000)],
  ['loud white noise', noise(64_000, 30_000)],
  ['quiet white noise', noise(64_000, 400)],
  ['noise below the silence level', noise(64_000, 20)],
  ['music', music(64_000)],
  ['a hum of 50 Hz', new Int16Array(64_000).map((_, at) => 300 * Math.sin(at / 51))],
])('%s raises no alarm', (_, samples) => {
  expect(judge(samples)).toBeNull();
});

const LOUDNESSES = [300, 3_000, 30_000];

test('tones below 4 kHz raise no alarm', () => {
  for (let hz = 250; hz < 4_000; hz += 250) {
    for (const amplitude of LOUDNESSES) {
      expect(judge(tone(hz, amplitude, 40_000)), `${hz} Hz at ${amplitude}`).toBeNull();
    }
  }
});

test('no tone looks like another encoding', () => {
  for (let hz = 50; hz < 8_000; hz += 50) {
    for (const amplitude of LOUDNESSES) {
      const samples = tone(hz, amplitude, 8_400);
      expect(findWrongEncoding(samples), `${hz} Hz at ${amplitude}`).toBeNull();
    }
  }
});

const SOUND = bytesOf(noise(32_000));

test.each([
  [/WAV/, Buffer.concat([Buffer.from('RIFF'), SOUND])],
  [/Ogg/, Buffer.concat([Buffer.from('OggS'), SOUND])],
  [/MP3/, Buffer.concat([Buffer.from('ID3\u0003'), SOUND])],
  [/AIFF/, Buffer.concat([Buffer.from('FORM'), SOUND])],
  [/M4A/, Buffer.concat([Buffer.from([0, 0, 0, 32]), Buffer.from('ftypM4A '), SOUND])],
  [/base64/, Buffer.from('c3ZjLWFzci1hdWRpbw=='.repeat(1_700))],
  [/base64/, Buffer.from(Buffer.from(SOUND).toString('base64'))],
  [/all zeros/, Buffer.alloc(64_000)],
  [/full scale/, Buffer.alloc(64_000, Buffer.from([0xff, 0x7f, 0x00, 0x80]))],
])('gives one hint, %s', (hint, bytes) => {
  expect(hintFor(bytes)).toMatch(hint);
});

test('finds a magic number that is split over small frames', () => {
  const check = new AudioCheck();
  const hints = ['RI', 'FF'].map((part) => check.examine(Buffer.from(part))?.hint ?? null);
  expect(hints[0]).toBeNull();
  expect(hints[1]).toMatch(/WAV/);
});

test('the check ends after two seconds of sound or thirty of silence', () => {
  for (const samples of [noise(32_000), new Int16Array(480_000).fill(1)]) {
    const check = new AudioCheck();
    check.examine(new Uint8Array(samples.buffer));
    expect(check.isOver).toBe(true);
  }
});
