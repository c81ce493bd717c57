import { AUDIO } from '@svc-asr/protocol';

/**
 * Speech whose every sample says whose it is and where it belongs. The low byte of a sample is the number of its word, the
 * high byte is a loud square wave whose amplitude names the speaker. A recogniser that reads it back tells exactly which
 * samples it got, so a transcript shows every lost, repeated or misplaced sample.
 */

const WORD_SAMPLES = (AUDIO.sampleRateHz * 300) / 1000;
/** Word 0 is silence. */
const WORDS = 255;
/** A voice: 125 Hz. */
const HALF_WAVE_SAMPLES = 64;
const AMPLITUDE_MIN = 16;

/** The model recogniser begins its text with the keyterms that it was told. */
const KEYTERMS_PREFIX = 'keyterms:';

/** What the model recogniser writes, given the words of an utterance and the keyterms that apply to it. */
export function recognised(
  words: readonly { text: string }[],
  keyterms: readonly string[],
): string {
  const told =
    keyterms.length === 0 || words.length === 0 ? [] : [KEYTERMS_PREFIX + keyterms.join('+')];
  return [...told, ...words.map(({ text }) => text)].join(' ');
}

function withoutKeyterms(text: string): string {
  return text
    .split(' ')
    .filter((part) => !part.startsWith(KEYTERMS_PREFIX))
    .join(' ');
}

/** A run of samples of one word. */
export interface Run {
  readonly speaker: number;
  readonly word: number;
  readonly samples: number;
}

/** Writes the samples from `from` on. */
export function speak(speaker: number, from: number, samples: number): Uint8Array {
  const pcm = new Uint16Array(samples);
  const amplitude = AMPLITUDE_MIN + speaker;
  // Half waves don't cross the borders of words.
  for (let at = 0; at < samples;) {
    const position = from + at;
    const halfWave = Math.floor(position / HALF_WAVE_SAMPLES);
    const end = Math.min(samples, (halfWave + 1) * HALF_WAVE_SAMPLES - from);
    const high = halfWave % 2 === 0 ? amplitude : 256 - amplitude;
    pcm.fill(wordAt(position) | (high << 8), at, end);
    at = end;
  }
  return new Uint8Array(pcm.buffer);
}

export function silence(samples: number): Uint8Array {
  return new Uint8Array(samples * AUDIO.bytesPerSample);
}

function wordAt(position: number): number {
  return 1 + (Math.floor(position / WORD_SAMPLES) % WORDS);
}

/** Reads runs of equal words. Joins the first one to the last one before it. */
export class SpeechReader {
  readonly #runs: { key: number; samples: number; startSample: number }[] = [];
  #samples = 0;

  get samples(): number {
    return this.#samples;
  }

  read(pcm: Uint8Array): void {
    const samples = pcm.byteLength >> 1;
    // Samples lie at even offsets.
    const even = pcm.byteOffset % 2 === 0 ? pcm : new Uint8Array(pcm);
    const values = new Uint16Array(even.buffer, even.byteOffset, samples);
    for (let at = 0; at < samples;) {
      const value = values[at] ?? 0;
      const from = at;
      while (at < samples && values[at] === value) at += 1;
      this.#add(keyOf(value & 255, value >> 8), at - from);
    }
  }

  #add(key: number, samples: number): void {
    const last = this.#runs.at(-1);
    if (last?.key === key) last.samples += samples;
    else this.#runs.push({ key, samples, startSample: this.#samples });
    this.#samples += samples;
  }

  /** The words so far, with their places in milliseconds. */
  words(): { text: string; startMs: number; endMs: number }[] {
    return this.#runs
      .filter(({ key }) => key !== 0)
      .map(({ key, samples, startSample }) => ({
        text: toText({ speaker: (key >> 8) - AMPLITUDE_MIN, word: key & 255, samples }),
        startMs: Math.floor((startSample * 1000) / AUDIO.sampleRateHz),
        endMs: Math.floor(((startSample + samples) * 1000) / AUDIO.sampleRateHz),
      }));
  }
}

/** Of a word and its speaker. 0 is silence. */
function keyOf(word: number, high: number): number {
  return word === 0 ? 0 : word | ((high < 128 ? high : 256 - high) << 8);
}

function toText({ speaker, word, samples }: Run): string {
  return `${speaker}.${word}.${samples}`;
}

/** Reads a transcript back. Joins neighbouring runs of one word, which an utterance border may have cut. */
export function parseTranscript(text: string): Run[] {
  const runs: Run[] = [];
  for (const token of withoutKeyterms(text)
    .split(' ')
    .filter((part) => part !== '')) {
    const [speaker = -1, word = -1, samples = -1] = token.split('.').map(Number);
    addRun(runs, { speaker, word, samples });
  }
  return runs;
}

/** What a speaker said between two positions. */
export function spokenRuns(speaker: number, from: number, to: number): Run[] {
  const runs: Run[] = [];
  for (let at = from; at < to;) {
    const end = Math.min(to, (Math.floor(at / WORD_SAMPLES) + 1) * WORD_SAMPLES);
    addRun(runs, { speaker, word: wordAt(at), samples: end - at });
    at = end;
  }
  return runs;
}

function addRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last !== undefined && last.speaker === run.speaker && last.word === run.word) {
    runs[runs.length - 1] = { ...last, samples: last.samples + run.samples };
  } else runs.push(run);
}
