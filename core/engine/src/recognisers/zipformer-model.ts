import { readFile } from 'node:fs/promises';
import { Tensor, type InferenceSession } from 'onnxruntime-node';
import { parseCtcTokens } from '../ctc/tokens.ts';
import { toPosteriors } from '../ctc/posteriors.ts';
import { MELS } from '../transducer/kaldi-features.ts';
import type { TokenContext } from '../transducer/transducer-beam.ts';
import { createSession } from './onnx-session.ts';
import type { WeightFiles } from './sherpa-recogniser.ts';

/** What the encoder remembers of an utterance. */
export type EncoderState = Readonly<Record<string, Tensor>>;

/** The frames of one chunk, row by row. */
export interface EncodedFrames {
  readonly values: Float32Array;
  readonly count: number;
  readonly width: number;
}

/** Outputs of the decoder network that are remembered. There are as many as pairs of tokens. */
const DECODED_MAX = 10_000;

/** A streaming Zipformer transducer in ONNX Runtime, as icefall exports it. */
export class ZipformerModel {
  /** The text of each token; empty for the blank, which is the first, and for special tokens. */
  readonly texts: readonly string[];
  /** New mel frames of each chunk, and all that the encoder looks at. */
  readonly chunkFrames: number;
  readonly windowFrames: number;
  readonly contextTokens: number;
  readonly #encoder: InferenceSession;
  readonly #decoder: InferenceSession;
  readonly #joiner: InferenceSession;
  readonly #decoded = new Map<string, Float32Array>();
  /** Every token: the beam chooses among all of them. */
  readonly #labels: readonly number[];

  private constructor(
    parts: Record<'encoder' | 'decoder' | 'joiner', InferenceSession>,
    input: { readonly texts: readonly string[]; readonly chunkFrames: number },
  ) {
    this.#encoder = parts.encoder;
    this.#decoder = parts.decoder;
    this.#joiner = parts.joiner;
    this.chunkFrames = input.chunkFrames;
    this.windowFrames = shapeOf(parts.encoder, 0)[1] ?? 0;
    this.contextTokens = shapeOf(parts.decoder, 0)[1] ?? 0;
    this.texts = input.texts;
    this.#labels = input.texts.map((_, label) => label);
  }

  static async load(
    files: WeightFiles,
    input: { readonly chunkFrames: number; readonly threads: number },
  ): Promise<ZipformerModel> {
    const tokens = parseCtcTokens(await readFile(files.tokens, 'utf8'));
    if (typeof tokens === 'string') throw new RangeError(tokens);
    const { chunkFrames, threads } = input;
    const encoder = await createSession(files.encoder, threads);
    const decoder = await createSession(files.decoder, threads);
    const joiner = await createSession(files.joiner, threads);
    return new ZipformerModel(
      { encoder, decoder, joiner },
      // Some recipes train on capitals. Our text, keyterms and language models have none.
      { chunkFrames, texts: tokens.texts.map((text) => text.toLowerCase()) },
    );
  }

  /** Silence before the utterance: all zeros. */
  beginState(): EncoderState {
    const state: Record<string, Tensor> = {};
    for (const [at, name] of this.#encoder.inputNames.entries()) {
      if (at === 0) continue;
      const shape = shapeOf(this.#encoder, at);
      const size = shape.reduce((product, one) => product * one, 1);
      const { type } = tensorOf(this.#encoder, at);
      state[name] =
        type === 'int64'
          ? new Tensor('int64', new BigInt64Array(size), shape)
          : new Tensor('float32', new Float32Array(size), shape);
    }
    return state;
  }

  async encode(
    features: Float32Array,
    state: EncoderState,
  ): Promise<{ frames: EncodedFrames; state: EncoderState }> {
    const [input = '', ...stateNames] = this.#encoder.inputNames;
    const [output = '', ...newNames] = this.#encoder.outputNames;
    const x = new Tensor('float32', features, [1, this.windowFrames, MELS]);
    const answer = await this.#encoder.run({ ...state, [input]: x });
    const next: Record<string, Tensor> = {};
    for (const [at, name] of stateNames.entries()) {
      const made = answer[newNames[at] ?? ''];
      if (!(made instanceof Tensor)) throw new RangeError('The encoder returns too few states.');
      next[name] = made;
    }
    const { data, dims } = floatsOf(answer[output]);
    const [, count = 0, width = 0] = dims;
    return { frames: { values: data, count, width }, state: next };
  }

  /** The log-probability of each token in this frame after each context, row by row. */
  async join(frame: Float32Array, contexts: readonly TokenContext[]): Promise<Float64Array> {
    const width = frame.length;
    const encoded = new Float32Array(contexts.length * width);
    const decoded = new Float32Array(contexts.length * width);
    for (const [row, context] of contexts.entries()) {
      encoded.set(frame, row * width);
      decoded.set(await this.#decode(context), row * width);
    }
    const [first = '', second = ''] = this.#joiner.inputNames;
    const answer = await this.#joiner.run({
      [first]: new Tensor('float32', encoded, [contexts.length, width]),
      [second]: new Tensor('float32', decoded, [contexts.length, width]),
    });
    const { data } = floatsOf(answer[this.#joiner.outputNames[0] ?? '']);
    const tokens = data.length / contexts.length;
    const rows = { logits: data, count: contexts.length, width: tokens };
    return toPosteriors(rows, { labels: this.#labels, fromFrame: 0 }).values;
  }

  async #decode(context: TokenContext): Promise<Float32Array> {
    const key = context.join(' ');
    const known = this.#decoded.get(key);
    if (known !== undefined) return known;
    const tokens = BigInt64Array.from(context, BigInt);
    const answer = await this.#decoder.run({
      [this.#decoder.inputNames[0] ?? '']: new Tensor('int64', tokens, [1, context.length]),
    });
    const { data } = floatsOf(answer[this.#decoder.outputNames[0] ?? '']);
    if (this.#decoded.size >= DECODED_MAX) this.#decoded.clear();
    this.#decoded.set(key, data);
    return data;
  }
}

function tensorOf(session: InferenceSession, at: number): InferenceSession.TensorValueMetadata {
  const input = session.inputMetadata[at];
  if (input?.isTensor !== true) throw new RangeError('Every input must be a tensor.');
  return input;
}

/** A dimension with a name instead of a number is the number of utterances: one. */
function shapeOf(session: InferenceSession, at: number): number[] {
  return tensorOf(session, at).shape.map((size) => (typeof size === 'number' ? size : 1));
}

function floatsOf(value: unknown): { data: Float32Array; dims: readonly number[] } {
  if (!(value instanceof Tensor) || !(value.data instanceof Float32Array)) {
    throw new RangeError('The model must output float32.');
  }
  return { data: value.data, dims: value.dims };
}
