import { join } from 'node:path';
import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import type { CtcRecogniser, KeytermTree, Logits } from '@svc-asr/engine';
import type { Count } from '../bootstrap.ts';
import { distance, words } from '../scoring.ts';
import { isFolder, readFolder, type Language, type Utterance } from '../sets.ts';
import { ownCpuMs } from '../statistics.ts';

interface Decoded {
  readonly text: string;
  /** How long after its last letter each word became stable, in audio time. */
  readonly lagsMs: readonly number[];
}

/** Streams a recording through the recogniser in chunks, as the engine does. */
export async function stream(
  recogniser: CtcRecogniser,
  samples: Float32Array,
  keyterms?: KeytermTree,
): Promise<Decoded> {
  const utterance = recogniser.begin('', keyterms);
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

/** Processor time per audio second of whole recordings. A stream encodes 3.8 times and searches twice as many frames. */
export async function searchCost(
  recogniser: CtcRecogniser,
  own: readonly Utterance[],
): Promise<{ searchMs: number; encoderMs: number }> {
  let [searchMs, encoderMs, seconds] = [0, 0, 0];
  for (const { wave } of own) {
    const beganMs = ownCpuMs();
    const logits = await recogniser.model.run(wave);
    encoderMs += ownCpuMs() - beganMs;
    const text = recogniser.newText();
    const searchingMs = ownCpuMs();
    text.add(logits, { firstFrame: 0, keepTo: 0 });
    searchMs += ownCpuMs() - searchingMs;
    seconds += wave.length / AUDIO.sampleRateHz;
  }
  return { searchMs: searchMs / seconds, encoderMs: encoderMs / seconds };
}

/** Processor time per audio second of recordings that are streamed in chunks. */
export async function streamCost(
  recogniser: CtcRecogniser,
  own: readonly Utterance[],
): Promise<number> {
  const beganMs = ownCpuMs();
  let seconds = 0;
  for (const { wave } of own) {
    await stream(recogniser, wave);
    seconds += wave.length / AUDIO.sampleRateHz;
  }
  return (ownCpuMs() - beganMs) / seconds;
}

/** The text of a whole recording: one encoding serves every way of decoding it. */
export function textOf(text: ReturnType<CtcRecogniser['newText']>, logits: Logits): string {
  text.add(logits, { firstFrame: 0, keepTo: 0 });
  text.end();
  return text.transcript(Infinity).text;
}

/** The files of an offline CTC model in a folder. */
export function filesOf(folder: string): { model: string; tokens: string } {
  return { model: join(folder, 'model.onnx'), tokens: join(folder, 'tokens.txt') };
}

/** The recordings of one language in `folder/set`. None if there is no such set. */
export async function readSet(
  { folder, limit }: { readonly folder: string; readonly limit: number },
  set: string,
  language: Language,
): Promise<readonly Utterance[]> {
  const path = join(folder, set);
  if (!(await isFolder(path))) return [];
  return (await readFolder(path)).filter((one) => one.language === language).slice(0, limit);
}
