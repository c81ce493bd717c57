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

/** Where a graph can continue from earlier windows. */
export interface CacheTensors {
  /**
   * The last tensor that stands for all samples before anything but convolutions has mixed frames. Features may be cached
   * there if they don't depend on other frames; only running the model shows that.
   */
  readonly features: string;
  /** The first tensor after the positional convolution that stands for all samples. */
  readonly positioned: string | null;
  /** Keys and values of each layer in turn, as the products of attention take them. */
  readonly attention: readonly string[];
}

/** Operators whose results depend on other frames, or on a scale over all of them. */
const MIXES = new Set(['MatMul', 'Gemm', 'DynamicQuantizeLinear', 'Softmax', 'Attention']);
/** Operators with graphs of their own, which are not read here. */
const NESTED = new Set(['If', 'Loop', 'Scan']);
/** Operators between a product of attention and its softmax. */
const SCALES = new Set(['Mul', 'Div', 'Add']);

/** Finds the tensors to cache, or returns null where there are no features to keep. */
export function cacheTensors(graph: readonly Field[]): CacheTensors | null {
  const nodes = graph.filter(({ number }) => number === GRAPH.node).map(nodeOf);
  if (nodes.some(({ type }) => NESTED.has(type))) return null;
  const weights = new Set(namesOf(graph, GRAPH.initializer, NAMED.tensor));
  const inputs = namesOf(graph, GRAPH.input, NAMED.value).filter((name) => !weights.has(name));
  const uses = usesOf(nodes, namesOf(graph, GRAPH.output, NAMED.value));
  const attention = attentionOf(nodes);
  /** Tensors that depend on the samples and that later nodes use. */
  const live = new Set(inputs);
  let found: string | null = null;
  let features: string | null = null;
  let isPositioned = false;
  for (const [at, node] of nodes.entries()) {
    const depends = node.inputs.some((name) => live.has(name));
    const isPositional = depends && node.type === 'Conv' && node.groups > 1;
    if (isPositional || (depends && MIXES.has(node.type))) {
      features ??= found;
      if (features === null) return null;
    }
    isPositioned ||= isPositional;
    for (const name of live) if ((uses.get(name) ?? 0) <= at) live.delete(name);
    if (!depends) continue;
    for (const name of node.outputs) if ((uses.get(name) ?? 0) > at) live.add(name);
    const [tensor = ''] = node.outputs;
    if (node.type === 'Conv') found = null;
    if (live.size !== 1 || !live.has(tensor)) continue;
    if (isPositioned && features !== null) return { features, positioned: tensor, attention };
    found = tensor;
  }
  return features === null ? null : { features, positioned: null, attention };
}

/** The second factor of the product before each softmax, and of the one after it. */
function attentionOf(nodes: readonly Node[]): string[] {
  const producers = new Map(nodes.flatMap((node) => node.outputs.map((name) => [name, node])));
  return nodes.flatMap((node) => {
    if (node.type !== 'Softmax') return [];
    const weighted = nodes.find(
      ({ type, inputs }) => type === 'MatMul' && inputs[0] === node.outputs[0],
    );
    let scores: Node | undefined = node;
    do scores = producers.get(scores.inputs[0] ?? '');
    while (scores !== undefined && SCALES.has(scores.type));
    if (scores?.type !== 'MatMul' || weighted === undefined) return [];
    return [...scores.inputs.slice(1), ...weighted.inputs.slice(1)];
  });
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
