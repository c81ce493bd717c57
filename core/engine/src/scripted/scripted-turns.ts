import { AUDIO } from '@svc-asr/protocol/constants.ts';
import type { EngineWord } from '../engine.ts';
import {
  FRAME_SAMPLES,
  type FrameVerdict,
  type SpeechDetector,
} from '../voice-activity/voice-activity.ts';

/** One turn of a scripted conversation. The audio is only counted, so it can be silence. */
export interface ScriptedTurn {
  /** The recognised text. Empty for noise that the detector mistakes for speech. */
  readonly text: string;
  /** Silence before the turn. Default 500. */
  readonly silenceMs?: number;
  /** Duration of the speech. Default: 560 per word. */
  readonly speechMs?: number;
}

interface PlacedTurn {
  readonly startMs: number;
  readonly endMs: number;
  readonly words: readonly EngineWord[];
}

const SILENCE_MS = 500;
/** A word of a plain text lasts half a chunk, so that each chunk adds two words. */
export const WORD_MS = 560;
const SAMPLES_PER_MS = AUDIO.sampleRateHz / 1000;

/** Turns at their times in the stream. After the last one there is silence. */
export class ScriptedTurns {
  readonly #turns: readonly PlacedTurn[];

  constructor(turns: readonly ScriptedTurn[]) {
    let atMs = 0;
    this.#turns = turns.map((turn) => {
      const texts = turn.text.split(/\s+/u).filter((text) => text !== '');
      const startMs = atMs + (turn.silenceMs ?? SILENCE_MS);
      const speechMs = turn.speechMs ?? WORD_MS * Math.max(1, texts.length);
      atMs = startMs + speechMs;
      const wordMs = speechMs / texts.length;
      const words = texts.map((text, at) => ({
        text,
        startMs: Math.round(startMs + at * wordMs),
        endMs: Math.round(startMs + (at + 1) * wordMs),
      }));
      return { startMs, endMs: atMs, words };
    });
  }

  /** Words that start in this part of the stream, with times from its start. */
  wordsBetween(fromMs: number, toMs: number): readonly EngineWord[] {
    return this.#turns
      .flatMap(({ words }) => words)
      .filter(({ startMs }) => startMs >= fromMs && startMs < toMs)
      .map((word) => ({
        text: word.text,
        startMs: Math.round(word.startMs - fromMs),
        endMs: Math.round(word.endMs - fromMs),
      }));
  }

  /** Detects the turns from this sample of the stream on. */
  createDetector(originSample: number): SpeechDetector {
    const turns = this.#turns.map(({ startMs, endMs }) => ({
      startSample: Math.round(startMs * SAMPLES_PER_MS) - originSample,
      endSample: Math.round(endMs * SAMPLES_PER_MS) - originSample,
    }));
    return new ScriptedDetector(turns);
  }
}

class ScriptedDetector implements SpeechDetector {
  readonly #turns: readonly { readonly startSample: number; readonly endSample: number }[];
  #samples = 0;
  #speaking = false;
  #speech: FrameVerdict['speech'] = null;

  constructor(turns: readonly { readonly startSample: number; readonly endSample: number }[]) {
    this.#turns = turns;
  }

  get missing(): number {
    return FRAME_SAMPLES - (this.#samples % FRAME_SAMPLES);
  }

  push(samples: Int16Array): FrameVerdict | null {
    this.#samples += samples.length;
    if (this.#samples % FRAME_SAMPLES !== 0) return null;
    this.#processFrame(this.#samples - FRAME_SAMPLES, this.#samples);
    return { endSample: this.#samples, speaking: this.#speaking, speech: this.#speech };
  }

  endSpeech(): void {
    this.#speaking = false;
  }

  #processFrame(frameStart: number, frameEnd: number): void {
    const turn = this.#turns.find(
      ({ startSample, endSample }) => startSample < frameEnd && endSample > frameStart,
    );
    if (turn === undefined) return;
    const startSample = this.#speaking
      ? (this.#speech?.startSample ?? 0)
      : Math.max(0, frameStart, turn.startSample);
    this.#speaking = true;
    this.#speech = { startSample, lastSample: Math.min(frameEnd, turn.endSample) };
  }
}
