import { AUDIO, CHUNK_SAMPLES } from '@svc-asr/protocol/constants.ts';
import type { KeytermTree } from '../keyterms/keyterm-tree.ts';
import { KaldiFeatures, MEL_FRAME_SAMPLES } from '../transducer/kaldi-features.ts';
import { TransducerText } from '../transducer/transducer-text.ts';
import { appendSamples } from '../append-samples.ts';
import { listeningFor, type BeamSearch } from './beam-search.ts';
import { cpuMsSince, liveStreamsPerChild, UNBATCHED_LOAD } from './live-streams.ts';
import type { RecognisedUtterance, Recognition } from './recognition.ts';
import type { Transcript } from '../transcript.ts';
import type { EncoderState, ZipformerModel } from './zipformer-model.ts';

/** Silence after the audio: tokens are written a little after their sound. In mel frames. */
const TAIL_FRAMES = 30;

/**
 * Streams a Zipformer transducer, chunk by chunk of the encoder. The beam is ours and not sherpa-onnx's, whose Node.js
 * binding takes no keyterms per stream and no language model, and can't commit text (docs/design/decoding.md).
 */
export class ZipformerRecogniser implements Recognition {
  readonly batchMax = 1;
  readonly extraLeadInSamples = 0;
  readonly streamsMade = 0;
  readonly model: ZipformerModel;
  readonly liveStreams: number;
  readonly #search: BeamSearch;

  private constructor(model: ZipformerModel, search: BeamSearch, liveStreams: number) {
    this.model = model;
    this.#search = search;
    this.liveStreams = liveStreams;
  }

  /** Measures what a chunk of audio costs. */
  static async measure(
    model: ZipformerModel,
    search: BeamSearch,
    threads = 1,
  ): Promise<ZipformerRecogniser> {
    const trial = new ZipformerRecogniser(model, search, 1);
    const chunk = new Float32Array(CHUNK_SAMPLES);
    const utterance = trial.begin();
    utterance.accept(chunk);
    await utterance.decode();
    const before = process.cpuUsage();
    utterance.accept(chunk);
    await utterance.decode();
    const cpuMsPerChunk = cpuMsSince(before);
    const streams = liveStreamsPerChild({ cpuMsPerChunk, threads, load: UNBATCHED_LOAD });
    return new ZipformerRecogniser(model, search, streams);
  }

  begin(_language?: string, keyterms?: KeytermTree): ZipformerUtterance {
    return new ZipformerUtterance(this, this.#newText(keyterms));
  }

  async decode(utterances: readonly ZipformerUtterance[]): Promise<void> {
    for (const utterance of utterances) await utterance.decode();
  }

  #newText(keyterms?: KeytermTree): TransducerText {
    const { texts, contextTokens } = this.model;
    return TransducerText.begin({ texts, contextTokens, ...listeningFor(this.#search, keyterms) });
  }
}

/** One utterance: audio whose features are not computed yet, the encoder's state, and the text so far. */
export class ZipformerUtterance implements RecognisedUtterance {
  readonly recognition: ZipformerRecogniser;
  readonly #text: TransducerText;
  readonly #features: KaldiFeatures;
  #audio = new Float32Array(0);
  #samples = 0;
  #chunks = 0;
  #ended = false;
  #state: EncoderState | null = null;
  #finished = false;

  constructor(
    recognition: ZipformerRecogniser,
    text: TransducerText,
    features = new KaldiFeatures(),
  ) {
    this.recognition = recognition;
    this.#text = text;
    this.#features = features;
  }

  get samples(): number {
    return this.#samples;
  }

  get ready(): boolean {
    if (this.#finished) return this.#samples > 0 && !this.#ended;
    return this.#audio.length >= CHUNK_SAMPLES;
  }

  accept(samples: Float32Array): void {
    this.#audio = appendSamples(this.#audio, samples);
    this.#samples += samples.length;
  }

  finish(): void {
    this.#finished = true;
  }

  transcript(): Transcript {
    return this.#text.transcript((this.#samples * 1000) / AUDIO.sampleRateHz);
  }

  /** Decodes the rest in a copy. The encoder doesn't change the state that it gets. */
  async peek(): Promise<Transcript> {
    const copy = new ZipformerUtterance(this.recognition, this.#text.fork(), this.#features.fork());
    copy.#audio = this.#audio.slice();
    copy.#samples = this.#samples;
    copy.#chunks = this.#chunks;
    copy.#state = this.#state;
    copy.finish();
    while (copy.ready) await copy.decode();
    return copy.transcript();
  }

  /** Decodes a chunk of audio. A flush that arrives meanwhile applies to the next call; chunks of the encoder stay the same. */
  async decode(): Promise<void> {
    const count = Math.min(this.#audio.length, CHUNK_SAMPLES);
    this.#features.accept(this.#audio.subarray(0, count));
    this.#audio = this.#audio.slice(count);
    this.#ended = this.#finished && this.#audio.length === 0;
    if (this.#ended) this.#features.accept(this.#tail());
    const { chunkFrames, windowFrames } = this.recognition.model;
    while (this.#chunks * chunkFrames + windowFrames <= this.#features.count) {
      await this.#decodeChunk();
    }
    if (this.#ended) this.#text.end();
  }

  /** Silence up to the end of a chunk of the encoder. */
  #tail(): Float32Array {
    const { chunkFrames, windowFrames } = this.recognition.model;
    const spoken = this.#samples / MEL_FRAME_SAMPLES + TAIL_FRAMES;
    const frames = Math.ceil(spoken / chunkFrames) * chunkFrames + windowFrames - chunkFrames;
    return new Float32Array((frames + 1) * MEL_FRAME_SAMPLES - this.#samples);
  }

  async #decodeChunk(): Promise<void> {
    const { model } = this.recognition;
    const from = this.#chunks * model.chunkFrames;
    const features = this.#features.read(from, model.windowFrames);
    this.#chunks += 1;
    this.#features.forget(from + model.chunkFrames);
    const { frames, state } = await model.encode(features, this.#state ?? model.beginState());
    this.#state = state;
    for (let at = 0; at < frames.count; at += 1) {
      const frame = frames.values.subarray(at * frames.width, (at + 1) * frames.width);
      const contexts = this.#text.hypotheses.map(({ context }) => context);
      this.#text.step(await model.join(frame, contexts));
    }
    this.#text.commit();
  }
}
