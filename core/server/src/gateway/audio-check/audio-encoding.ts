/**
 * Detects bytes that hold speech, but not as 16-bit little-endian samples. Neighbouring samples of speech are alike. Read with
 * the wrong width or byte order they are not, so each rule reads the bytes another way and compares.
 *
 * 16-bit PCM at 8 kHz has no rule, because it sounds like a high voice that speaks fast. Recordings and synthetic voices at 8 kHz
 * have pitches of 150 to 670 Hz and mean frequencies of 930 to 2,150 Hz. At 16 kHz, high voices reach 360 Hz and noise 1,460 Hz.
 */

/**
 * Roughness of bytes read as they should be, at most. All are between 0 (alike) and 2 (unrelated). Recordings and synthetic voices
 * at 16 kHz have 0.03 to 0.3. Companded at 8 kHz they reach 0.7.
 */
const SMOOTH_PCM_MAX = 0.5;
const SMOOTH_COMPANDED_MAX = 0.8;
/** Below this the samples are plausible as they are. Companded speech read as PCM has 0.5 at least. */
const PLAUSIBLE_MAX = 0.4;
/** Speech with its bytes swapped or shifted has 1.7 at least. */
const ROUGH_PCM_MIN = 1.2;
/** The right decoding is this many times smoother than the samples as sent. */
const COMPANDED_GAIN_MIN = 1.3;
/** Distance between the histograms of first and second bytes, from 0 (same) to 2. Both are samples if companded. */
const SAME_HISTOGRAM_MAX = 0.4;

/** A steady tone repeats a few samples, which may look smooth by chance when read another way. Speech has more byte values. */
const TONE_BYTE_VALUES_MAX = 64;

export type WrongEncoding = 'big_endian' | 'pcm24' | 'mulaw' | 'alaw';

/** Needs half a second of sound that is not silence. */
export function findWrongEncoding(samples: Int16Array): WrongEncoding | null {
  const asSent = roughness(samples);
  if (asSent < PLAUSIBLE_MAX) return null;
  const bytes = new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength);
  const histograms = countBytes(bytes);
  if (histograms.values <= TONE_BYTE_VALUES_MAX) return null;
  if (asSent > ROUGH_PCM_MIN) {
    if (roughness(swapBytes(samples)) < SMOOTH_PCM_MAX) return 'big_endian';
    if (looksLike24Bits(bytes)) return 'pcm24';
  }
  return histograms.distance > SAME_HISTOGRAM_MAX ? null : findCompanded(bytes, asSent);
}

/** A stream may start inside a sample, so every offset is tried. */
function looksLike24Bits(bytes: Uint8Array): boolean {
  return [0, 1, 2].some((offset) => roughness(readEveryThird(bytes, offset)) < SMOOTH_PCM_MAX);
}

/** G.711: one byte a sample. */
function findCompanded(bytes: Uint8Array, asSent: number): 'mulaw' | 'alaw' | null {
  const mulaw = roughness(expand(bytes, MULAW));
  const alaw = roughness(expand(bytes, ALAW));
  const best = Math.min(mulaw, alaw);
  if (best > SMOOTH_COMPANDED_MAX || asSent < COMPANDED_GAIN_MIN * best) return null;
  return mulaw < alaw ? 'mulaw' : 'alaw';
}

/** Energy of the differences between neighbouring samples, relative to the energy of the samples around their mean. */
function roughness(samples: Int16Array): number {
  let before = samples[0] ?? 0;
  let sum = 0;
  let energy = 0;
  let differences = 0;
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    const difference = sample - before;
    sum += sample;
    energy += sample * sample;
    differences += difference * difference;
    before = sample;
  }
  return differences / Math.max(1, energy - (sum * sum) / samples.length);
}

function swapBytes(samples: Int16Array): Int16Array {
  const swapped = new Int16Array(samples.length);
  for (let at = 0; at < samples.length; at += 1) {
    const sample = samples[at] ?? 0;
    swapped[at] = (sample << 8) | ((sample >> 8) & 0xff);
  }
  return swapped;
}

/** Two bytes of every three, low byte first. */
function readEveryThird(bytes: Uint8Array, offset: number): Int16Array {
  const samples = new Int16Array(Math.floor((bytes.length - offset) / 3));
  for (let at = 0; at < samples.length; at += 1) {
    const from = offset + 3 * at;
    samples[at] = (bytes[from] ?? 0) | ((bytes[from + 1] ?? 0) << 8);
  }
  return samples;
}

function expand(bytes: Uint8Array, table: Int16Array): Int16Array {
  const samples = new Int16Array(bytes.length);
  for (let at = 0; at < bytes.length; at += 1) samples[at] = table[bytes[at] ?? 0] ?? 0;
  return samples;
}

/** How many byte values occur, and how far apart the histograms of first and second bytes are. */
function countBytes(bytes: Uint8Array): { values: number; distance: number } {
  const counts = new Int32Array(512);
  for (let at = 0; at < bytes.length; at += 1) {
    const place = ((at & 1) << 8) | (bytes[at] ?? 0);
    counts[place] = (counts[place] ?? 0) + 1;
  }
  let values = 0;
  let apart = 0;
  for (let byte = 0; byte < 256; byte += 1) {
    const first = counts[byte] ?? 0;
    const second = counts[byte + 256] ?? 0;
    if (first + second > 0) values += 1;
    apart += Math.abs(first - second);
  }
  return { values, distance: apart / (bytes.length / 2) };
}

/** ITU-T G.711: sign, three bits of exponent, four of mantissa. */
const MULAW = Int16Array.from({ length: 256 }, (_, byte) => {
  const code = ~byte & 0xff;
  const size = ((((code & 0x0f) << 3) + 0x84) << ((code >> 4) & 7)) - 0x84;
  return (code & 0x80) === 0 ? size : -size;
});
const ALAW = Int16Array.from({ length: 256 }, (_, byte) => {
  const code = byte ^ 0x55;
  const exponent = (code >> 4) & 7;
  const mantissa = ((code & 0x0f) << 4) + 8;
  const size = exponent === 0 ? mantissa : (mantissa + 0x100) << (exponent - 1);
  return (code & 0x80) === 0 ? -size : size;
});
