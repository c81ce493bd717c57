import sherpa, { type OnlineRecognizer, type OnlineStream } from 'sherpa-onnx-node';
import { AUDIO, CHUNK_SAMPLES, type ModelId } from '@svc-asr/protocol';
import { loadManifests, type ModelManifest } from '@svc-asr/engine';
import { MODELS_DIR } from './fixtures.ts';

const LEAD_IN = new Float32Array(19_640 - CHUNK_SAMPLES);
const TAIL = new Float32Array(20_800);
/** As many as the pool decodes together: more are no faster (docs/design/scheduling.md). */
const BATCH_MAX = 8;

export interface BareUtterance {
  readonly model: ModelId;
  readonly samples: Float32Array;
}

/** A speaker with successive utterances. */
interface Speaker {
  readonly utterances: readonly BareUtterance[];
  readonly texts: string[];
  stream: OnlineStream;
  /** Samples of the utterance given to the stream, including the tail. */
  given: number;
}

/**
 * sherpa-onnx-node alone, tuned for speed, as the baseline of the pool. Samples are converted to floats
 * in advance. Each chunk is fed when it is due, so that features stay in the cache. A finished speaker
 * starts the next utterance at once, so that batches stay full. A result is fetched once per utterance.
 * The pool decodes the same chunks in the same batches, and additionally parses bytes, crosses a
 * process boundary and sends deltas.
 */
export class BareRecogniser {
  readonly #manifests: ReadonlyMap<ModelId, ModelManifest>;
  readonly #recogniser: OnlineRecognizer;
  readonly #batchMax: number;
  /** How long each decode call took. */
  readonly decodesMs: number[] = [];

  constructor(manifests: ReadonlyMap<ModelId, ModelManifest>) {
    const [first, ...others] = manifests.values();
    const weights = JSON.stringify(first?.files);
    if (
      first === undefined ||
      first.kind === 'offline_ctc' ||
      others.some(({ files }) => JSON.stringify(files) !== weights)
    ) {
      throw new RangeError('Both models must share their weights.');
    }
    const { tokens, ...transducer } = first.files;
    this.#manifests = manifests;
    this.#batchMax = first.kind === 'transducer' && !first.batchSafe ? 1 : BATCH_MAX;
    this.#recogniser = new sherpa.OnlineRecognizer({
      featConfig: { sampleRate: AUDIO.sampleRateHz, featureDim: 80 },
      modelConfig: { transducer, tokens, numThreads: 1, provider: 'cpu' },
      decodingMethod: first.kind === 'transducer' ? 'greedy_search' : 'modified_beam_search',
    });
  }

  static async load(modelsDir = MODELS_DIR): Promise<BareRecogniser> {
    return new BareRecogniser(await loadManifests(modelsDir));
  }

  /** Transcribes one recording as in sherpa-onnx's documentation: all audio at once, no other streams. */
  recognise(speech: { model: ModelId; pcm: Uint8Array }): string {
    const utterance = toUtterance(speech);
    const stream = this.#beginStream(utterance);
    accept(stream, utterance.samples);
    accept(stream, TAIL);
    while (this.#recogniser.isReady(stream)) this.#recogniser.decodeStreams([stream]);
    return this.#recogniser.getResult(stream).text.trim();
  }

  /** Transcribes the utterances of several concurrent speakers. */
  recogniseSpeakers(speakers: readonly (readonly BareUtterance[])[]): string[][] {
    const all = speakers.map((utterances) => this.#begin(utterances));
    let line = all;
    for (;;) {
      const batch: Speaker[] = [];
      let looked = 0;
      while (looked < line.length && batch.length < this.#batchMax) {
        const speaker = line[looked++];
        if (speaker !== undefined && this.#feed(speaker)) batch.push(speaker);
      }
      if (batch.length === 0) return all.map(({ texts }) => texts);
      const beganMs = performance.now();
      this.#recogniser.decodeStreams(batch.map(({ stream }) => stream));
      this.decodesMs.push(performance.now() - beganMs);
      line = [...line.slice(looked), ...batch];
    }
  }

  #begin(utterances: readonly BareUtterance[]): Speaker {
    return { utterances, texts: [], stream: this.#beginStream(utterances[0]), given: 0 };
  }

  #beginStream(utterance: BareUtterance | undefined): OnlineStream {
    const stream = this.#recogniser.createStream();
    if (utterance !== undefined) {
      stream.setOption('language', this.#manifests.get(utterance.model)?.language ?? '');
    }
    accept(stream, LEAD_IN);
    return stream;
  }

  /** Feeds the stream the audio for its next decode. Returns false at the end. */
  #feed(speaker: Speaker): boolean {
    while (!this.#recogniser.isReady(speaker.stream)) {
      const utterance = speaker.utterances[speaker.texts.length];
      if (utterance === undefined) return false;
      const { samples } = utterance;
      if (speaker.given < samples.length) {
        accept(speaker.stream, samples.subarray(speaker.given, speaker.given + CHUNK_SAMPLES));
        speaker.given += CHUNK_SAMPLES;
        if (speaker.given >= samples.length) accept(speaker.stream, TAIL);
      } else {
        speaker.texts.push(this.#recogniser.getResult(speaker.stream).text.trim());
        speaker.stream = this.#beginStream(speaker.utterances[speaker.texts.length]);
        speaker.given = 0;
      }
    }
    return true;
  }
}

export function toUtterance(input: { model: ModelId; pcm: Uint8Array }): BareUtterance {
  const { model, pcm } = input;
  const view = new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  const samples = new Float32Array(pcm.byteLength / AUDIO.bytesPerSample);
  for (let at = 0; at < samples.length; at += 1) {
    samples[at] = view.getInt16(at * AUDIO.bytesPerSample, true) / 32_768;
  }
  return { model, samples };
}

function accept(stream: OnlineStream, samples: Float32Array): void {
  stream.acceptWaveform({ samples, sampleRate: AUDIO.sampleRateHz });
}
