import { delimited, fieldsOf, readVarint, varint, type Field } from '@svc-asr/engine/protobuf.ts';

/** Fields of ONNX messages; the format never renumbers them. */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5 };
const NODE = { input: 1, type: 4 };
const TENSOR = { type: 2, int32Data: 5, name: 8, rawData: 9 };
const UINT8 = 2;
const INT8 = 3;
const OFFSET = 128;

export interface SignedModel {
  /** The file in pieces: it may be too large to copy at once. */
  readonly parts: readonly Uint8Array[];
  /** How many matrices were changed. */
  readonly matrices: number;
}

/**
 * Turns the unsigned 8-bit matrices of an ONNX model into signed ones, which the fast matrix instructions of x86 need.
 * Weights and their zero points both move down by 128, so every product stays exactly the same.
 */
export function toSignedWeights(model: Uint8Array): SignedModel {
  const parts: Uint8Array[] = [];
  let matrices = 0;
  for (const field of fieldsOf(model)) {
    if (field.number !== MODEL.graph) {
      parts.push(field.whole);
      continue;
    }
    const graph = fieldsOf(field.value);
    const changed = tensorsToChange(graph);
    matrices = changed.matrices;
    const pieces = graph.flatMap((piece) =>
      piece.number === GRAPH.initializer && changed.names.has(tensorOf(piece).name)
        ? delimited(GRAPH.initializer, signedTensor(piece))
        : [piece.whole],
    );
    parts.push(...delimited(MODEL.graph, pieces));
  }
  return { parts, matrices };
}

/** Names the weights and zero points of MatMulInteger nodes that nothing else uses and that both are unsigned. */
function tensorsToChange(graph: readonly Field[]): { names: Set<string>; matrices: number } {
  const unsigned = new Set<string>();
  for (const field of graph) {
    if (field.number !== GRAPH.initializer) continue;
    const { name, type } = tensorOf(field);
    if (type === UINT8) unsigned.add(name);
  }
  const pairs: { weight: string; zeroPoint: string }[] = [];
  for (const field of graph) {
    if (field.number !== GRAPH.node) continue;
    const { type, inputs } = nodeOf(field);
    const [, weight = '', , zeroPoint = ''] = inputs;
    const isProduct = type === 'MatMulInteger';
    if (isProduct) pairs.push({ weight, zeroPoint });
    for (const input of isProduct ? inputs.toSpliced(3, 1).toSpliced(1, 1) : inputs) {
      unsigned.delete(input);
    }
  }
  // A weight and its zero point change together or not at all, also where several nodes share one of them.
  for (let before = -1; before !== unsigned.size;) {
    before = unsigned.size;
    for (const { weight, zeroPoint } of pairs) {
      if (unsigned.has(weight) && unsigned.has(zeroPoint)) continue;
      unsigned.delete(weight);
      unsigned.delete(zeroPoint);
    }
  }
  const weights = new Set(pairs.map(({ weight }) => weight).filter((name) => unsigned.has(name)));
  const zeroPoints = pairs.map(({ zeroPoint }) => zeroPoint).filter((name) => unsigned.has(name));
  return { names: new Set([...weights, ...zeroPoints]), matrices: weights.size };
}

function nodeOf(field: Field): { type: string; inputs: string[] } {
  const fields = fieldsOf(field.value);
  const type = fields.find(({ number }) => number === NODE.type);
  const inputs = fields.filter(({ number }) => number === NODE.input);
  return { type: textOf(type), inputs: inputs.map(textOf) };
}

function tensorOf(field: Field): { name: string; type: number } {
  const fields = fieldsOf(field.value);
  const type = fields.find(({ number }) => number === TENSOR.type);
  return {
    name: textOf(fields.find(({ number }) => number === TENSOR.name)),
    type: type === undefined ? 0 : readVarint(type.value, { position: 0 }),
  };
}

function textOf(field: Field | undefined): string {
  return new TextDecoder().decode(field?.value);
}

function signedTensor(field: Field): Uint8Array[] {
  return fieldsOf(field.value).flatMap((part) => {
    if (part.number === TENSOR.type) return [varint(TENSOR.type * 8), varint(INT8)];
    // Moving a byte down by 128 inverts its highest bit.
    if (part.number === TENSOR.rawData) {
      return delimited(TENSOR.rawData, [part.value.map((byte) => byte ^ 0x80)]);
    }
    if (part.number !== TENSOR.int32Data) return [part.whole];
    const numbers: Uint8Array[] = [];
    for (const at = { position: 0 }; at.position < part.value.length;) {
      numbers.push(varint(readVarint(part.value, at) - OFFSET));
    }
    return delimited(TENSOR.int32Data, numbers);
  });
}
