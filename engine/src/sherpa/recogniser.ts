import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol';
import sherpa, { type OnlineRecognizer, type OnlineStream } from 'sherpa-onnx-node';
import { toTranscript, type Transcript } from './transcript.ts';

export interface WeightFiles {
  readonly encoder: string;
  readonly decoder: string;
  readonly joiner: string;
  readonly tokens: string;
}

/** The first chunk's decode wants a little more than a chunk; no model of the family wants two. */
const FIRST_DECODE_SAMPLES_MAX = 2 * CHUNK_SAMPLES;
/** inputFinished() leaves the partial chunk undecoded; this much silence always pushes it through. */
const TAIL_SAMPLES = 20_800;
const TAIL = new Float32Array(TAIL_SAMPLES);

/** Weights in memory, and the utterances that they decode. */
export class Recogniser {
  readonly batching: boolean;
  readonly #native: OnlineRecognizer;
  readonly #leadIn: Float32Array;

  constructor(input: { files: WeightFiles; batching: boolean }) {
    const { tokens, ...transducer } = input.files;
    this.batching = input.batching;
    this.#native = new sherpa.OnlineRecognizer({
      featConfig: { sampleRate: AUDIO.sampleRateHz, featureDim: 80 },
      modelConfig: { transducer, tokens, numThreads: 1, provider: 'cpu' },
      decodingMethod: 'greedy_search',
    });
    this.#leadIn = new Float32Array(this.#firstDecodeSamples() - CHUNK_SAMPLES);
  }

  /**
   * Begins with the silence that the first decode wants beyond one chunk. It fills the cache, so that no speech is
   * lost to that, and from then on every chunk of the caller's audio is decoded when its last sample is there.
   */
  begin(language: string): Utterance {
    const stream = this.#native.createStream();
    stream.setOption('language', language);
    const utterance = new Utterance({ native: this.#native, stream, recogniser: this });
    utterance.pad(this.#leadIn);
    return utterance;
  }

  /** Every one of them must be ready. */
  decode(utterances: readonly Utterance[]): void {
    this.#native.decodeStreams(utterances.map((utterance) => utterance.stream));
  }

  get leadInMs(): number {
    return (this.#leadIn.length * 1000) / AUDIO.sampleRateHz;
  }

  #firstDecodeSamples(): number {
    let enough = FIRST_DECODE_SAMPLES_MAX;
    let tooFew = CHUNK_SAMPLES - 1;
    while (enough - tooFew > 1) {
      const samples = Math.floor((enough + tooFew) / 2);
      const stream = this.#native.createStream();
      stream.acceptWaveform({
        samples: new Float32Array(samples),
        sampleRate: AUDIO.sampleRateHz,
      });
      if (this.#native.isReady(stream)) enough = samples;
      else tooFew = samples;
    }
    return enough;
  }
}

/** One utterance being decoded. */
export class Utterance {
  readonly recogniser: Recogniser;
  readonly stream: OnlineStream;
  readonly #native: OnlineRecognizer;
  #samples = 0;

  constructor(input: { native: OnlineRecognizer; stream: OnlineStream; recogniser: Recogniser }) {
    this.#native = input.native;
    this.stream = input.stream;
    this.recogniser = input.recogniser;
  }

  get samples(): number {
    return this.#samples;
  }

  get ready(): boolean {
    return this.#native.isReady(this.stream);
  }

  accept(samples: Float32Array): void {
    this.#samples += samples.length;
    this.pad(samples);
  }

  /** No more audio: pushes what is left through the decoder. Nothing is left of an utterance without audio. */
  finish(): void {
    if (this.#samples > 0) this.pad(TAIL);
  }

  pad(samples: Float32Array): void {
    if (samples.length === 0) return;
    this.stream.acceptWaveform({ samples, sampleRate: AUDIO.sampleRateHz });
  }

  transcript(): Transcript {
    return toTranscript(this.#native.getResult(this.stream), {
      leadInMs: this.recogniser.leadInMs,
      heardMs: (this.#samples * 1000) / AUDIO.sampleRateHz,
    });
  }
}
