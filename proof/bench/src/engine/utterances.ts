import type { ModelId } from '@svc-asr/protocol';
import { SPEECH, speech } from '@svc-asr/testing/speech/fixtures.ts';

/** Fixture sentences joined together. */
export interface UtterancePlan {
  readonly model: ModelId;
  readonly sentences: readonly string[];
}

const PAUSE = new Uint8Array(8_000);

export function pcmOf(plan: UtterancePlan): Uint8Array {
  return Buffer.concat(plan.sentences.flatMap((name) => [speech(name).pcm, PAUSE]));
}

/** Returns the n-th distinct sequence of the given number of sentences in one language. */
export function distinctUtterance(number: number, sentences: number): UtterancePlan {
  const language = number % 2 === 0 ? 'kikuyu' : 'dholuo';
  const model = `svc-asr-${language}-v1` as const;
  const ours = SPEECH.filter((one) => one.model === model);
  let rest = Math.floor(number / 2);
  if (rest >= ours.length ** sentences) throw new RangeError('No more sequences of this length.');
  const names = Array.from({ length: sentences }, () => {
    const name = ours[rest % ours.length]?.name ?? '';
    rest = Math.floor(rest / ours.length);
    return name;
  });
  return { model, sentences: names };
}

export function secondsOf(pcm: Uint8Array): number {
  return pcm.byteLength / 32_000;
}
