import type { FinalEvent } from '@svc-asr/protocol';
import { expect } from 'vitest';

/** Expects that the utterances cover the audio without gaps. */
export function expectWhole(finals: readonly FinalEvent[], ms: number): void {
  expect([0, ...finals.map((final) => final.end_ms)]).toEqual([
    ...finals.map((final) => final.start_ms),
    ms,
  ]);
  expect(finals.map((final) => final.utterance)).toEqual([...finals.keys()]);
}
