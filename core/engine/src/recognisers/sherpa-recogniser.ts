import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import sherpa, { type OnlineRecognizer, type OnlineStream } from 'sherpa-onnx-node';
import { cpuMsSince, liveStreamsPerChild } from './live-streams.ts';
import type { RecognisedUtterance, Recognition } from './recognition.ts';
import type { Transcript } from '../transcript.ts';
import { toTranscript } from './sherpa-transcript.ts';

export interface WeightFiles {
  readonly encoder: string;
  readonly decoder: string;
  readonly joiner: string;
  readonly tokens: string;
}

/** The first decode needs a little more than one chunk. No model of the family needs two. */
const FIRST_DECODE_SAMPLES_MAX = 2 * CHUNK_SAMPLES;
/** inputFinished() leaves a partial chunk undecoded. This much silence always completes it. */
const TAIL = new Float32Array(20_800);

/** Share of the cores that live streams may take. The rest is for words, events and bursts. */
const LOAD_MAX = 0.6;
const BATCHES_MEASURED = 3;

/** Larger batches are no faster, and every stream waits for the whole batch (docs/design/scheduling.md). */
const BATCH_MAX = 8;

/** The weights of a transducer in memory, and the utterances that they decode. */
export class Recogniser implements Recognition {
  /** One for weights with which streams in a batch would change each other's words. */
  readonly batchMax: number;
  readonly native: OnlineRecognizer;
  /** Extra silence before the audio. Some weights lose the first word without it. */
  readonly extraLeadInSamples: number;
  /** How many live streams fit, by the processor time of full batches. */
  readonly liveStreams: number;
  readonly #leadIn: Float32Array;
  #streamsMade = 0;

  constructor(input: {
    files: WeightFiles;
    batchSafe: boolean;
    extraLeadInMs?: number;
    threads?: number;
  }) {
    const { tokens, ...transducer } = input.files;
    this.batchMax = input.batchSafe ? BATCH_MAX : 1;
    this.extraLeadInSamples = Math.round(((input.extraLeadInMs ?? 0) * AUDIO.sampleRateHz) / 1000);
    this.native = new sherpa.OnlineRecognizer({
      featConfig: { sampleRate: AUDIO.sampleRateHz, featureDim: 80 },
      modelConfig: { transducer, tokens, numThreads: input.threads ?? 1, provider: 'cpu' },
      decodingMethod: 'greedy_search',
    });
    const needed = this.#firstDecodeSamples() - CHUNK_SAMPLES;
    this.#leadIn = new Float32Array(needed + this.extraLeadInSamples);
    this.liveStreams = liveStreamsPerChild({
      cpuMsPerChunk: this.#measureChunk(),
      threads: input.threads ?? 1,
      load: LOAD_MAX,
    });
  }

  begin(language: string): Utterance {
    return new Utterance(this, language);
  }

  /**
   * Starts with silence, because the first decode needs more than one chunk. After that, every chunk of
   * the caller's audio is decoded as soon as its last sample arrives.
   */
  beginStream(language: string): OnlineStream {
    this.#streamsMade += 1;
    const stream = this.native.createStream();
    stream.setOption('language', language);
    accept(stream, this.#leadIn);
    return stream;
  }

  /** Every one of them must be ready. */
  decode(utterances: readonly Utterance[]): undefined {
    const streams = utterances.flatMap(({ stream }) => (stream === undefined ? [] : [stream]));
    this.native.decodeStreams(streams);
  }

  get streamsMade(): number {
    return this.#streamsMade;
  }

  get leadInMs(): number {
    return (this.#leadIn.length * 1000) / AUDIO.sampleRateHz;
  }

  /** The processor time of a chunk in a full batch. The first batch only loads the weights. */
  #measureChunk(): number {
    const costs = Array.from({ length: BATCHES_MEASURED }, () => {
      const streams = Array.from({ length: this.batchMax }, () => this.native.createStream());
      for (const stream of streams) {
        accept(stream, this.#leadIn);
        accept(stream, new Float32Array(CHUNK_SAMPLES));
      }
      const before = process.cpuUsage();
      this.native.decodeStreams(streams);
      return cpuMsSince(before) / this.batchMax;
    });
    return Math.min(...costs);
  }

  #firstDecodeSamples(): number {
    let enough = FIRST_DECODE_SAMPLES_MAX;
    let tooFew = CHUNK_SAMPLES - 1;
    while (enough - tooFew > 1) {
      const samples = Math.floor((enough + tooFew) / 2);
      const stream = this.native.createStream();
      accept(stream, new Float32Array(samples));
      if (this.native.isReady(stream)) enough = samples;
      else tooFew = samples;
    }
    return enough;
  }
}

/** One utterance being decoded. It costs nothing before its first audio. */
export class Utterance implements RecognisedUtterance {
  readonly recognition: Recogniser;
  readonly #language: string;
  #stream: OnlineStream | undefined;
  #samples = 0;

  constructor(recogniser: Recogniser, language: string) {
    this.recognition = recogniser;
    this.#language = language;
  }

  get stream(): OnlineStream | undefined {
    return this.#stream;
  }

  get samples(): number {
    return this.#samples;
  }

  get ready(): boolean {
    return this.#stream !== undefined && this.recognition.native.isReady(this.#stream);
  }

  accept(samples: Float32Array): void {
    this.#stream ??= this.recognition.beginStream(this.#language);
    this.#samples += samples.length;
    accept(this.#stream, samples);
  }

  /** Ends the audio and decodes the rest. Silence that doesn't complete a chunk would never be decoded. */
  finish(): void {
    const given = this.recognition.extraLeadInSamples + this.#samples + TAIL.length;
    const unused = given % CHUNK_SAMPLES;
    if (this.#stream !== undefined) accept(this.#stream, TAIL.subarray(unused));
  }

  transcript(): Transcript {
    if (this.#stream === undefined) return { text: '', words: [] };
    return toTranscript(this.recognition.native.getResult(this.#stream), {
      leadInMs: this.recognition.leadInMs,
      audioMs: (this.#samples * 1000) / AUDIO.sampleRateHz,
    });
  }
}

function accept(stream: OnlineStream, samples: Float32Array): void {
  stream.acceptWaveform({ samples, sampleRate: AUDIO.sampleRateHz });
}
