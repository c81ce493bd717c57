import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import type { CtcRecogniser } from '@svc-asr/engine';
import type { Count } from './bootstrap.ts';
import { distance, words } from './scoring.ts';

export interface Decoded {
  readonly text: string;
  /** How long after its last letter each word became stable, in audio time. */
  readonly lagsMs: readonly number[];
}

/** Streams a recording through the recogniser in chunks, as the engine does. */
export async function stream(recogniser: CtcRecogniser, samples: Float32Array): Promise<Decoded> {
  const utterance = recogniser.begin();
  const stableAtMs: number[] = [];
  const note = (): void => {
    const { text, stableLength = 0 } = utterance.transcript();
    const stable = words(text.slice(0, stableLength)).length;
    const nowMs = (utterance.samples * 1000) / AUDIO.sampleRateHz;
    while (stableAtMs.length < stable) stableAtMs.push(nowMs);
  };
  for (let at = 0; at < samples.length; at += CHUNK_SAMPLES) {
    utterance.accept(samples.subarray(at, at + CHUNK_SAMPLES));
    while (utterance.ready) await utterance.decode();
    note();
  }
  utterance.finish();
  while (utterance.ready) await utterance.decode();
  const final = utterance.transcript();
  const lagsMs = stableAtMs.map((atMs, word) => atMs - (final.words[word]?.endMs ?? atMs));
  return { text: final.text, lagsMs };
}

export function countErrors(spoken: string, recognised: string, speaker: string): Count {
  return {
    errors: distance(words(spoken), words(recognised)),
    total: words(spoken).length,
    speaker,
  };
}
