import type { EngineEvent, EngineWord } from '@svc-asr/engine/core.ts';
import { AUDIO, MODELS, type FinalEvent, type Word } from '@svc-asr/protocol';
import { formatNumbers } from '@svc-asr/protocol/numbers/format-numbers.ts';
import { audioMs, billableMs, type Meter } from './metering.ts';
import type { FinalMarker, StreamState } from './stream-state.ts';

/** Less audio than this can't contain a word. A flush of it gets an empty final without decoding. */
export const FLUSH_SAMPLES_MIN = AUDIO.sampleRateHz / 10;

type Recognised = Pick<EngineEvent & { type: 'final' }, 'text' | 'words'>;

export const EMPTY_RESULT: Recognised = { text: '', words: [] };

export function holdsWords(marker: FinalMarker): boolean {
  return marker.endSample - marker.startSample >= FLUSH_SAMPLES_MIN;
}

export function finalEvent(state: StreamState, marker: FinalMarker, event: Recognised): FinalEvent {
  const endMs = audioMs(marker.endSample);
  // Rounded like the end, so that a final starts where the one before it ends.
  const startMs = audioMs(marker.startSample);
  const originMs = audioMs(marker.originSample);
  const words = event.words.map((word) => ({
    text: word.text,
    start_ms: Math.min(endMs, originMs + word.startMs),
    end_ms: Math.min(endMs, originMs + word.endMs),
    ...(word.confidence === undefined ? {} : { confidence: word.confidence }),
  }));
  return {
    type: 'final',
    text: event.text,
    utterance: marker.utterance,
    reason: marker.reason,
    ...(marker.id === undefined ? {} : { id: marker.id }),
    ...(marker.eager?.text === event.text ? { eager: marker.eager.number } : {}),
    start_ms: startMs,
    end_ms: endMs,
    ...confidenceOf(event.words),
    words,
    ...(marker.numbers ? withDigits(state, event.text, words) : {}),
    audio_ms: audioMs(marker.endSample - marker.startSample),
    total_audio_ms: endMs,
    billable_ms: isFree(state) ? 0 : billableMs(state.meter, marker.endSample),
  };
}

/** Text that is more than its words, such as punctuated text, stays as it is. */
function withDigits(
  state: StreamState,
  text: string,
  words: readonly Word[],
): Pick<FinalEvent, 'text_formatted' | 'entities'> {
  if (words.map((word) => word.text).join(' ') !== text) {
    return { text_formatted: text, entities: [] };
  }
  const formatted = formatNumbers(words, MODELS[state.session.model].languageCode);
  return { text_formatted: formatted.text, entities: formatted.entities };
}

/** Says what a session costs if that doesn't follow from its audio. */
export function costOf(meter: Meter, samples: number): { billable_ms?: number } {
  return meter.replayedSamples === 0 ? {} : { billable_ms: billableMs(meter, samples) };
}

/** A stream cut by a drain is not charged. */
function isFree(state: StreamState): boolean {
  return state.phase === 'finishing' && state.because === 'draining';
}

/** The mean of the words' confidences, where every word has one. */
function confidenceOf(words: readonly EngineWord[]): { confidence?: number } {
  let sum = 0;
  for (const { confidence } of words) {
    if (confidence === undefined) return {};
    sum += confidence;
  }
  return words.length === 0 ? {} : { confidence: Math.round((sum / words.length) * 1000) / 1000 };
}
