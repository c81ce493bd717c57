import { rm } from 'node:fs/promises';
import {
  CtcLoader,
  loadManifests,
  startSherpaEngine,
  type CtcRecogniser,
  type EngineEvent,
  type Engine,
} from '@svc-asr/engine';
import { CHUNK_SAMPLES } from '@svc-asr/protocol';
import { standInModels, streamedModels } from '@svc-asr/testing/speech/stand-in.ts';
import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { prefixed, type CampaignOptions, type CampaignResult } from '../campaign.ts';
import { numbers } from '../service/concurrency.ts';
import { percentile } from '@svc-asr/eval/statistics.ts';
import { STAND_IN_BEAM } from '../engine/stand-in-beam.ts';
import { variedUtterance, type VariedUtterance } from '../engine/varied-utterance.ts';
import { wordErrors } from '../engine/word-errors.ts';

const GOALS = { werLoss: 1.5, commitLagP90Ms: 2_500, encodedPerSecond: 4 };
const FRAME_BYTES = 3_200;
const AT_ONCE = 4;
const RATE = 16_000;
const never = new AbortController().signal;

export const about =
  'an offline CTC model as a stream: stable text, accuracy against offline, lag, cost';

interface Tally {
  utterances: number;
  words: number;
  streamedErrors: number;
  offlineErrors: number;
  /** Stable characters that a later event changed. */
  rewritten: number;
  readonly lagsMs: number[];
  audioSamples: number;
  encodedSamples: number;
}

/** Greedy decoding, a beam search with a language model, and a model with cached keys and values. */
export async function run(options: CampaignOptions): Promise<CampaignResult> {
  const greedy = await measure(options, standInModels());
  const beam = await measure(options, standInModels(STAND_IN_BEAM));
  const streamed = await measure(options, streamedModels());
  return {
    passed: greedy.passed && beam.passed && streamed.passed,
    figures: { ...greedy.figures, ...prefixed('beam', beam), ...prefixed('streamed', streamed) },
  };
}

async function measure(
  { short, log }: CampaignOptions,
  modelsDir: string,
): Promise<CampaignResult> {
  const count = short ? 24 : 1_000;
  const engine = await startSherpaEngine({ modelsDir, children: 1, slotsPerChild: AT_ONCE });
  const offline = await loadOffline(modelsDir);
  const tally: Tally = {
    utterances: 0,
    words: 0,
    streamedErrors: 0,
    offlineErrors: 0,
    rewritten: 0,
    lagsMs: [],
    audioSamples: 0,
    encodedSamples: 0,
  };
  try {
    await mapConcurrently(numbers(count), AT_ONCE, async (number) => {
      const spoken = variedUtterance(number);
      await stream(engine, spoken, tally);
      await compareOffline(offline, spoken, tally);
      tally.utterances += 1;
      if (tally.utterances % 100 === 0) log(`${tally.utterances} utterances`);
    });
  } finally {
    await engine.close();
    await rm(modelsDir, { recursive: true });
  }
  return judge(tally, count);
}

/** The same weights and the same search in this process. */
async function loadOffline(modelsDir: string): Promise<CtcRecogniser> {
  const [manifest] = (await loadManifests(modelsDir)).values();
  if (manifest?.kind !== 'offline_ctc') throw new RangeError('The stand-in is a CTC model.');
  return new CtcLoader().load(manifest);
}

function judge(tally: Tally, count: number): CampaignResult {
  const rate = (errors: number): number => Math.round((1000 * errors) / tally.words) / 10;
  const figures = {
    utterances: tally.utterances,
    stable_rewritten: tally.rewritten,
    wer_streamed: rate(tally.streamedErrors),
    wer_offline: rate(tally.offlineErrors),
    commit_lag_p50_ms: Math.round(percentile(tally.lagsMs, 0.5)),
    commit_lag_p90_ms: Math.round(percentile(tally.lagsMs, 0.9)),
    encoded_per_s: Math.round((100 * tally.encodedSamples) / tally.audioSamples) / 100,
  };
  const passed =
    figures.utterances === count &&
    figures.stable_rewritten === 0 &&
    figures.wer_streamed <= figures.wer_offline + GOALS.werLoss &&
    figures.commit_lag_p90_ms <= GOALS.commitLagP90Ms &&
    figures.encoded_per_s <= GOALS.encodedPerSecond;
  return { passed, figures };
}

/** Streams one utterance through the engine and checks that no event changes text that was stable before. */
async function stream(engine: Engine, spoken: VariedUtterance, tally: Tally): Promise<void> {
  const opened = await engine.open({ model: spoken.model, signal: never });
  const listening = listen(opened.events, tally);
  for (let at = 0; at < spoken.pcm.length; at += FRAME_BYTES) {
    await opened.write(spoken.pcm.slice(at, at + FRAME_BYTES));
  }
  opened.flush();
  const text = await listening;
  await opened.close();
  const { errors, words } = wordErrors(spoken.text, text);
  tally.words += words;
  tally.streamedErrors += errors;
}

async function listen(events: AsyncIterable<EngineEvent>, tally: Tally): Promise<string> {
  let stable = '';
  for await (const event of events) {
    if (event.type === 'error') throw new Error(event.reason);
    if (!event.text.startsWith(stable)) tally.rewritten += 1;
    if (event.type === 'final') return event.text;
    stable = event.text.slice(0, event.stableLength);
  }
  throw new Error('The stream ended without a final.');
}

/**
 * Measures how long after its end a word is stable, with the same audio in one window and chunk by chunk as in real time.
 * The engine can't tell, because a client that sends faster than real time gets a delta only for every fourth chunk.
 */
async function compareOffline(
  offline: CtcRecogniser,
  spoken: VariedUtterance,
  tally: Tally,
): Promise<void> {
  const { text } = await offline.recogniseWhole(spoken.samples);
  tally.offlineErrors += wordErrors(spoken.text, text).errors;
  const utterance = offline.begin();
  let committed = 0;
  for (let at = 0; at + CHUNK_SAMPLES <= spoken.samples.length; at += CHUNK_SAMPLES) {
    utterance.accept(spoken.samples.subarray(at, at + CHUNK_SAMPLES));
    while (utterance.ready) await utterance.decode();
    const { text, words, stableLength = 0 } = utterance.transcript();
    const stable = text.slice(0, stableLength).split(' ').filter(Boolean).length;
    const audioMs = (utterance.samples * 1000) / RATE;
    for (const word of words.slice(committed, stable)) tally.lagsMs.push(audioMs - word.endMs);
    committed = stable;
  }
  tally.audioSamples += utterance.samples;
  tally.encodedSamples += utterance.encodedSamples;
}
