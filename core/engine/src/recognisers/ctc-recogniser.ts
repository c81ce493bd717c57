import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import type { RecognisedUtterance, Recognition } from './recognition.ts';
import type { Transcript } from '../transcript.ts';
import type { KeytermTree } from '../keyterms/keyterm-tree.ts';
import { BeamText } from '../ctc/beam-text.ts';
import { CTC_FRAME_SAMPLES } from '../ctc/logits.ts';
import { appendSamples } from '../append-samples.ts';
import { listeningFor, type BeamSearch } from './beam-search.ts';
import { cpuMsSince, liveStreamsPerChild, UNBATCHED_LOAD } from './live-streams.ts';
import { CtcModel, type OfflineCtcFiles } from './ctc-model.ts';
import { GreedyText } from '../ctc/greedy-text.ts';
import type { UtteranceText } from '../ctc/utterance-text.ts';

/** Audio that is encoded again as left context of the new audio. */
const LEFT_SAMPLES = 2 * AUDIO.sampleRateHz;
/** Audio at the end of a window whose frames wait for the next one. */
const RIGHT_SAMPLES = CHUNK_SAMPLES;

interface StepOptions {
  /** Chunks of audio per window: with two, text comes later and a second of audio costs a third less. */
  readonly stepChunks: number;
  readonly threads: number;
}

const ONE_CHUNK: StepOptions = { stepChunks: 1, threads: 1 };

/**
 * Streams an offline CTC model. Every step encodes a window of the last 4.24 s (5.36 s with steps of two chunks) and keeps
 * its middle frames (docs/adr/0016). Nothing is batched, because one window fills a core, and one caller's audio
 * must not change another's words.
 */
export class CtcRecogniser implements Recognition {
  readonly batchMax = 1;
  readonly extraLeadInSamples = 0;
  readonly streamsMade = 0;
  readonly model: CtcModel;
  /** How many live streams a core can serve, by the processor time of a window. */
  readonly liveStreams: number;
  readonly #search: BeamSearch | null;

  /** New audio per window. */
  readonly stepSamples: number;

  private constructor(
    model: CtcModel,
    input: {
      readonly search: BeamSearch | null;
      readonly windowCpuMs: number;
      readonly options: StepOptions;
    },
  ) {
    const { search, windowCpuMs, options } = input;
    const { stepChunks, threads } = options;
    this.stepSamples = options.stepChunks * CHUNK_SAMPLES;
    this.model = model;
    this.#search = search;
    // A live stream encodes one window per step.
    const cpuMsPerChunk = windowCpuMs / stepChunks;
    this.liveStreams = liveStreamsPerChild({ cpuMsPerChunk, threads, load: UNBATCHED_LOAD });
  }

  /** Loads the weights for greedy decoding. */
  static async load(files: OfflineCtcFiles): Promise<CtcRecogniser> {
    return CtcRecogniser.measure(await CtcModel.load(files), null);
  }

  /** Measures what a window costs. Decodes greedily without a search. */
  static async measure(
    model: CtcModel,
    search: BeamSearch | null,
    options: StepOptions = ONE_CHUNK,
  ): Promise<CtcRecogniser> {
    const stepSamples = options.stepChunks * CHUNK_SAMPLES;
    const window = new Float32Array(LEFT_SAMPLES + stepSamples + RIGHT_SAMPLES);
    await model.run(window);
    const before = process.cpuUsage();
    await model.run(window);
    return new CtcRecogniser(model, { search, windowCpuMs: cpuMsSince(before), options });
  }

  begin(_language?: string, keyterms?: KeytermTree): CtcUtterance {
    return new CtcUtterance(this, keyterms);
  }

  /** Recognises all of the audio in one window, as these models are meant to be used. The baseline for streaming. */
  async recogniseWhole(samples: Float32Array): Promise<Transcript> {
    const text = this.newText();
    text.add(await this.model.run(samples), { firstFrame: 0, keepTo: 0 });
    text.end();
    return text.transcript((samples.length * 1000) / AUDIO.sampleRateHz);
  }

  /** `boost`: what a letter of a keyterm adds, to compare values. */
  newText(keyterms?: KeytermTree, boost?: number): UtteranceText {
    if (this.#search === null) return new GreedyText(this.model.tokens);
    return new BeamText(this.model.tokens, listeningFor(this.#search, keyterms, boost));
  }

  async decode(utterances: readonly CtcUtterance[]): Promise<void> {
    for (const utterance of utterances) await utterance.decode();
  }
}

/** One utterance: the audio that later windows still need, and the text so far. */
export class CtcUtterance implements RecognisedUtterance {
  readonly recognition: CtcRecogniser;
  readonly #text: UtteranceText;
  #audio = new Float32Array(0);
  /** Position of #audio in the utterance. */
  #audioFrom = 0;
  #samples = 0;
  /** A chunk that doesn't complete a step is decoded without a window. */
  #decodedTo = 0;
  #encodedTo = 0;
  #encodedSamples = 0;
  #finished = false;

  constructor(recognition: CtcRecogniser, keyterms?: KeytermTree) {
    this.recognition = recognition;
    this.#text = recognition.newText(keyterms);
  }

  get samples(): number {
    return this.#samples;
  }

  /** Total audio of its windows, overlaps included. */
  get encodedSamples(): number {
    return this.#encodedSamples;
  }

  get ready(): boolean {
    if (this.#finished) return this.#encodedTo < this.#samples;
    return this.#samples - this.#decodedTo >= CHUNK_SAMPLES;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
    this.#samples += samples.length;
  }

  finish(): void {
    this.#finished = true;
    if (!this.ready) this.#text.end();
  }

  transcript(): Transcript {
    return this.#text.transcript((this.#samples * 1000) / AUDIO.sampleRateHz);
  }

  async peek(): Promise<Transcript> {
    const samples = this.#samples;
    if (this.#encodedTo === samples) return this.transcript();
    const from = this.#windowStart();
    const logits = await this.recognition.model.run(this.#audio.subarray(from - this.#audioFrom));
    const audioMs = (samples * 1000) / AUDIO.sampleRateHz;
    return this.#text.peek(logits, { firstFrame: from / CTC_FRAME_SAMPLES, audioMs });
  }

  /** Encodes one window. Audio, a flush or a reset that arrives meanwhile applies to the next one. */
  async decode(): Promise<void> {
    const to = Math.min(this.#samples, this.#decodedTo + CHUNK_SAMPLES);
    // Windows end at the same places whenever the flush arrives, so replays give the same text.
    const isEnd = this.#finished && to === this.#samples;
    if (!isEnd && to - this.#encodedTo < this.recognition.stepSamples) {
      this.#decodedTo = to;
      return;
    }
    const from = this.#windowStart();
    const window = this.#audio.subarray(from - this.#audioFrom, to - this.#audioFrom);
    this.#encodedSamples += window.length;
    const logits = await this.recognition.model.run(window);
    this.#text.add(logits, {
      firstFrame: from / CTC_FRAME_SAMPLES,
      keepTo: Math.max(this.#text.keptFrames, Math.floor((to - RIGHT_SAMPLES) / CTC_FRAME_SAMPLES)),
    });
    this.#decodedTo = to;
    this.#encodedTo = to;
    if (this.#finished && !this.ready) this.#text.end();
    this.#forget();
  }

  /** The first sample that later windows need. */
  #windowStart(): number {
    return Math.max(0, this.#text.keptFrames * CTC_FRAME_SAMPLES - LEFT_SAMPLES);
  }

  #forget(): void {
    const needed = this.#windowStart();
    this.#audio = this.#audio.subarray(needed - this.#audioFrom);
    this.#audioFrom = needed;
  }
}
