import { fieldsOf, readVarint, type Field } from '@svc-asr/engine/protobuf.ts';

/** Fields of ONNX messages; the format never renumbers them. */
const GRAPH = { node: 1, input: 11, output: 12, initializer: 5 };
const NODE = { input: 1, output: 2, type: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, number: 3 };
const NAMED = { value: 1, tensor: 8 };

interface Node {
  readonly type: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Groups of a convolution. */
  readonly groups: number;
}

/** Operators whose results depend on other frames, or on a scale over all of them. */
const MIXES = new Set(['MatMul', 'Gemm', 'DynamicQuantizeLinear', 'Softmax', 'Attention']);
/** Operators with graphs of their own, which are not read here. */
const NESTED = new Set(['If', 'Loop', 'Scan']);

/**
 * Finds the last tensor that stands for all samples before anything but convolutions has mixed frames, or returns null.
 * Features may be cached there if they don't depend on other frames; only running the model shows that.
 */
export function featureTensor(graph: readonly Field[]): string | null {
  const nodes = graph.filter(({ number }) => number === GRAPH.node).map(nodeOf);
  if (nodes.some(({ type }) => NESTED.has(type))) return null;
  const weights = new Set(namesOf(graph, GRAPH.initializer, NAMED.tensor));
  const inputs = namesOf(graph, GRAPH.input, NAMED.value).filter((name) => !weights.has(name));
  const uses = usesOf(nodes, namesOf(graph, GRAPH.output, NAMED.value));
  /** Tensors that depend on the samples and that later nodes use. */
  const live = new Set(inputs);
  let found: string | null = null;
  for (const [at, node] of nodes.entries()) {
    const depends = node.inputs.some((name) => live.has(name));
    const isPositional = node.type === 'Conv' && node.groups > 1;
    if (depends && (MIXES.has(node.type) || isPositional)) return found;
    for (const name of live) if ((uses.get(name) ?? 0) <= at) live.delete(name);
    if (!depends) continue;
    for (const name of node.outputs) if ((uses.get(name) ?? 0) > at) live.add(name);
    const [tensor = ''] = node.outputs;
    if (node.type === 'Conv') found = null;
    if (live.size === 1 && live.has(tensor)) found = tensor;
  }
  return null;
}

/** The last node that uses each tensor. Outputs are used to the end. */
function usesOf(nodes: readonly Node[], outputs: readonly string[]): ReadonlyMap<string, number> {
  const uses = new Map<string, number>();
  for (const [at, { inputs }] of nodes.entries()) for (const name of inputs) uses.set(name, at);
  for (const name of outputs) uses.set(name, nodes.length);
  return uses;
}

function nodeOf(field: Field): Node {
  const parts = fieldsOf(field.value);
  const texts = (number: number): string[] =>
    parts.filter((part) => part.number === number).map(({ value }) => text(value));
  const [type = ''] = texts(NODE.type);
  const attributes = parts.filter(({ number }) => number === NODE.attribute);
  const groups = attributes.map(({ value }) => numberNamed(value, 'group')).find((n) => n !== null);
  return {
    type,
    inputs: texts(NODE.input),
    outputs: texts(NODE.output),
    groups: groups ?? 1,
  };
}

function numberNamed(attribute: Uint8Array, name: string): number | null {
  const parts = fieldsOf(attribute);
  const isNamed = parts.some(
    ({ number, value }) => number === ATTRIBUTE.name && text(value) === name,
  );
  const value = parts.find(({ number }) => number === ATTRIBUTE.number);
  if (!isNamed || value === undefined) return null;
  return readVarint(value.value, { position: 0 });
}

function namesOf(graph: readonly Field[], number: number, name: number): string[] {
  return graph
    .filter((field) => field.number === number)
    .map(({ value }) => text(fieldsOf(value).find((part) => part.number === name)?.value));
}

function text(value: Uint8Array | undefined): string {
  return new TextDecoder().decode(value);
}
