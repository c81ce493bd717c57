import sherpa, { type OnlineRecognizer, type OnlineStream } from 'sherpa-onnx-node';
import { AUDIO, CHUNK_SAMPLES, type ModelId } from '@svc-asr/protocol';
import { loadManifests, type ModelManifest } from '../src/index.ts';
import { MODELS_DIR } from './speech.ts';

const LEAD_IN = new Float32Array(19_640 - CHUNK_SAMPLES);
const TAIL = new Float32Array(20_800);

export interface BareUtterance {
  readonly model: ModelId;
  readonly pcm: Uint8Array;
}

/** sherpa-onnx-node as its makers show it: audio from memory, all that is ready in one decodeStreams. */
export class BareRecogniser {
  readonly #manifests: ReadonlyMap<ModelId, ModelManifest>;
  readonly #recogniser: OnlineRecognizer;
  /** How long each decode call took. */
  readonly decodesMs: number[] = [];

  constructor(manifests: ReadonlyMap<ModelId, ModelManifest>) {
    const [first, ...others] = manifests.values();
    const weights = JSON.stringify(first?.files);
    if (first === undefined || others.some(({ files }) => JSON.stringify(files) !== weights)) {
      throw new RangeError('Made for models that share their weights.');
    }
    const { tokens, ...transducer } = first.files;
    this.#manifests = manifests;
    this.#recogniser = new sherpa.OnlineRecognizer({
      featConfig: { sampleRate: AUDIO.sampleRateHz, featureDim: 80 },
      modelConfig: { transducer, tokens, numThreads: 1, provider: 'cpu' },
      decodingMethod: 'greedy_search',
    });
  }

  static async load(): Promise<BareRecogniser> {
    return new BareRecogniser(await loadManifests(MODELS_DIR));
  }

  /** What each of them says, all decoded together. */
  recognise(utterances: readonly BareUtterance[]): string[] {
    const streams = utterances.map((utterance) => this.#begin(utterance));
    for (;;) {
      const ready = streams.filter((stream) => this.#recogniser.isReady(stream));
      if (ready.length === 0) break;
      const beganMs = performance.now();
      this.#recogniser.decodeStreams(ready);
      this.decodesMs.push(performance.now() - beganMs);
    }
    return streams.map((stream) => this.#recogniser.getResult(stream).text.trim());
  }

  #begin({ model, pcm }: BareUtterance): OnlineStream {
    const stream = this.#recogniser.createStream();
    stream.setOption('language', this.#manifests.get(model)?.language ?? '');
    const samples = new Int16Array(pcm.slice().buffer);
    const speech = Float32Array.from(samples, (sample) => sample / 32_768);
    for (const part of [LEAD_IN, speech, TAIL]) {
      stream.acceptWaveform({ samples: part, sampleRate: AUDIO.sampleRateHz });
    }
    return stream;
  }
}
