import { readFileSync } from 'node:fs';

/** How often the sentence is said: long enough for a restart to hit the middle of a file. */
const TIMES = 12;
const WAV_HEAD_BYTES = 44;
const SILENCE_BYTES = 32_000;

/** A 16 kHz WAV file with its sentence repeated, a second apart. */
export function repeatedWav(wav16k: string): Buffer {
  const wav = readFileSync(wav16k);
  const sentence = [wav.subarray(WAV_HEAD_BYTES), Buffer.alloc(SILENCE_BYTES)];
  const audio = Buffer.concat(Array.from({ length: TIMES }, () => sentence).flat());
  const head = Buffer.from(wav.subarray(0, WAV_HEAD_BYTES));
  head.writeUInt32LE(audio.byteLength + WAV_HEAD_BYTES - 8, 4);
  head.writeUInt32LE(audio.byteLength, WAV_HEAD_BYTES - 4);
  return Buffer.concat([head, audio]);
}

/** The sentence, if the transcript is that sentence repeated. Otherwise the whole transcript. */
export function onceOf(transcript: string): string {
  const words = transcript.split(' ');
  const once = words.slice(0, words.length / TIMES).join(' ');
  return Array.from({ length: TIMES }, () => once).join(' ') === transcript ? once : transcript;
}
