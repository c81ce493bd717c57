import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import type { RecognisedUtterance, Recognition } from './recognition.ts';
import type { Transcript } from '../transcript.ts';
import type { KeytermTree } from '../keyterms/keyterm-tree.ts';
import { BeamText } from '../ctc/beam-text.ts';
import { CTC_FRAME_SAMPLES } from '../ctc/logits.ts';
import type { AudioWindows } from './audio-windows.ts';
import { listeningFor, type BeamSearch } from './beam-search.ts';
import { cpuMsSince, liveStreamsPerChild, UNBATCHED_LOAD } from './live-streams.ts';
import { CachedWindows } from './cached-windows.ts';
import { CtcModel, type OfflineCtcFiles } from './ctc-model.ts';
import { WholeWindows } from './whole-windows.ts';
import { GreedyText } from '../ctc/greedy-text.ts';
import type { UtteranceText } from '../ctc/utterance-text.ts';

/** Frames that are encoded again as left context of the new audio. */
const LEFT_FRAMES = (2 * AUDIO.sampleRateHz) / CTC_FRAME_SAMPLES;

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
      readonly cpuMsPerChunk: number;
      readonly options: StepOptions;
    },
  ) {
    const { search, cpuMsPerChunk, options } = input;
    const { stepChunks, threads } = options;
    this.stepSamples = stepChunks * CHUNK_SAMPLES;
    this.model = model;
    this.#search = search;
    this.liveStreams = liveStreamsPerChild({ cpuMsPerChunk, threads, load: UNBATCHED_LOAD });
  }

  /** Loads the weights for greedy decoding. */
  static async load(files: OfflineCtcFiles): Promise<CtcRecogniser> {
    return CtcRecogniser.measure(await CtcModel.load(files), null);
  }

  /** Measures what the first step with full context costs. Decodes greedily without a search. */
  static async measure(
    model: CtcModel,
    search: BeamSearch | null,
    options: StepOptions = ONE_CHUNK,
  ): Promise<CtcRecogniser> {
    const windows = windowsOf(model);
    const stepSamples = options.stepChunks * CHUNK_SAMPLES;
    const step = new Float32Array(stepSamples);
    let stepCpuMs = 0;
    for (let to = 0, keptFrames = 0, isFull = false; !isFull;) {
      isFull = keptFrames >= LEFT_FRAMES;
      to += stepSamples;
      const keepTo = finalFrames(model, to);
      windows.accept(step);
      const before = process.cpuUsage();
      await windows.encode(to, { keptFrames, keepTo });
      stepCpuMs = cpuMsSince(before);
      keptFrames = keepTo;
    }
    const cpuMsPerChunk = stepCpuMs / options.stepChunks;
    return new CtcRecogniser(model, { search, cpuMsPerChunk, options });
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

/** The windows of one utterance. */
export function windowsOf(model: CtcModel): AudioWindows {
  const Windows = model.featureWidth > 0 ? CachedWindows : WholeWindows;
  return new Windows(model, LEFT_FRAMES);
}

/**
 * How many frames are final once the audio to this sample is encoded. Those of the last chunk wait for the next window, with a
 * streamed model those of its second half: text is then final earlier, and a step costs less.
 */
export function finalFrames({ isStreamed }: Pick<CtcModel, 'isStreamed'>, sample: number): number {
  const rightSamples = isStreamed ? CHUNK_SAMPLES / 2 : CHUNK_SAMPLES;
  return Math.max(0, Math.floor((sample - rightSamples) / CTC_FRAME_SAMPLES));
}

/** One utterance: its audio and the text so far. */
export class CtcUtterance implements RecognisedUtterance {
  readonly recognition: CtcRecogniser;
  readonly #text: UtteranceText;
  readonly #windows: AudioWindows;
  #samples = 0;
  /** A chunk that doesn't complete a step is decoded without a window. */
  #decodedTo = 0;
  #encodedTo = 0;
  #encodedSamples = 0;
  #finished = false;

  constructor(recognition: CtcRecogniser, keyterms?: KeytermTree) {
    this.recognition = recognition;
    this.#text = recognition.newText(keyterms);
    this.#windows = windowsOf(recognition.model);
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
    this.#windows.accept(samples);
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
    const { logits, firstFrame } = await this.#windows.look(samples, this.#text);
    const audioMs = (samples * 1000) / AUDIO.sampleRateHz;
    return this.#text.peek(logits, { firstFrame, audioMs });
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
    const { keptFrames } = this.#text;
    const keepTo = Math.max(keptFrames, finalFrames(this.recognition.model, to));
    const frames = { keptFrames, keepTo };
    const { logits, firstFrame, samples } = await this.#windows.encode(to, frames);
    this.#encodedSamples += samples;
    this.#text.add(logits, { firstFrame, keepTo });
    this.#decodedTo = to;
    this.#encodedTo = to;
    if (this.#finished && !this.ready) this.#text.end();
  }
}
