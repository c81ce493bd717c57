import { isCacheInput } from '../ctc/cached-features.ts';
import { readOnnxMetadata } from './onnx-metadata.ts';
import { fieldsOf } from './protobuf.ts';

/** Fields of ONNX messages; the format never renumbers them. */
const MODEL = { graph: 7 };
const GRAPH = { initializer: 5, input: 11 };
const TENSOR = { name: 8 };
const VALUE = { name: 1, type: 2 };
const TYPE = { tensor: 1 };
const TENSOR_TYPE = { shape: 2 };

/**
 * Returns what is wrong with an offline CTC model: it takes samples of the shape (N, samples), and caches of `svc-models`.
 * Null if nothing is.
 */
export function checkCtcModel(file: Uint8Array): string | null {
  if (readOnnxMetadata(file) === null) return 'files.model is not an ONNX file';
  const inputs = inputsOf(file).filter(({ name }) => !isCacheInput(name));
  const [first] = inputs;
  if (inputs.length > 1) {
    const names = inputs.map(({ name }) => name).join(', ');
    return `files.model takes ${inputs.length} inputs (${names}); a CTC model of samples takes one`;
  }
  if (first === undefined || first.rank === 2) return null;
  return (
    `files.model takes features, not samples: its input ${first.name} has ${first.rank} dimensions, and the engine gives it ` +
    'two (N, samples). Export a model of the wav2vec2 family'
  );
}

function inputsOf(file: Uint8Array): { name: string; rank: number }[] {
  const graph = inside(file, MODEL.graph);
  // Old exporters list weights as inputs too.
  const weights = new Set(all(graph, GRAPH.initializer).map((one) => text(one, TENSOR.name)));
  const inputs = all(graph, GRAPH.input).map((value) => {
    const shape = inside(inside(inside(value, VALUE.type), TYPE.tensor), TENSOR_TYPE.shape);
    return { name: text(value, VALUE.name), rank: fieldsOf(shape).length };
  });
  return inputs.filter(({ name }) => !weights.has(name));
}

function all(message: Uint8Array, number: number): Uint8Array[] {
  const found = fieldsOf(message).filter((field) => field.number === number && field.isDelimited);
  return found.map(({ value }) => value);
}

function inside(message: Uint8Array, number: number): Uint8Array {
  return all(message, number)[0] ?? new Uint8Array();
}

function text(message: Uint8Array, number: number): string {
  return new TextDecoder().decode(inside(message, number));
}
