import { FEATURES } from '@svc-asr/engine/cached-features.ts';
import { delimited, fieldsOf, varint, type Field } from '@svc-asr/engine/protobuf.ts';
import { featureTensor } from './feature-tensor.ts';

/** Fields of ONNX messages; the format never renumbers them. */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, input: 11, output: 12, shapes: 13 };
const NODE = { input: 1, output: 2, type: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, number: 3, type: 20 };
const VALUE = { name: 1, type: 2 };
const TYPE = { tensor: 1 };
const TENSOR_TYPE = { elements: 1, shape: 2 };
const SHAPE = { dimension: 1 };
const DIMENSION = { number: 1, name: 2 };
const FLOAT = 1;
const INT_ATTRIBUTE = 2;
const FRAMES_AXIS = 1;

type Parts = readonly Uint8Array[];

/** The model that also returns its features, or null where they are not one tensor. */
export function withFeatures(model: Uint8Array): Parts | null {
  return changed(model, (tensor) => ({
    after: node('Identity', { inputs: [tensor], output: FEATURES.computed }),
    values: value(GRAPH.output, FEATURES.computed),
  }));
}

/** The model that takes features of earlier frames, `width` numbers each, and returns the new ones. */
export function withCachedFeatures(model: Uint8Array, width: number): Parts | null {
  return changed(model, (tensor) => ({
    renamed: { [tensor]: FEATURES.computed },
    after: node('Concat', {
      inputs: [FEATURES.cached, FEATURES.computed],
      output: tensor,
      axis: FRAMES_AXIS,
    }),
    values: [
      ...value(GRAPH.input, FEATURES.cached, ['N', 'cached_frames', width]),
      ...value(GRAPH.output, FEATURES.computed),
    ],
  }));
}

interface Change {
  /** New names for outputs of the node that computes the features. */
  readonly renamed?: Readonly<Record<string, string>>;
  /** A node after that one. */
  readonly after: Parts;
  readonly values: Parts;
}

function changed(model: Uint8Array, change: (tensor: string) => Change): Parts | null {
  const fields = fieldsOf(model);
  const graph = fields.find(({ number }) => number === MODEL.graph);
  if (graph === undefined) return null;
  const parts = fieldsOf(graph.value);
  const tensor = featureTensor(parts);
  if (tensor === null) return null;
  const { renamed = {}, after, values } = change(tensor);
  const nodes = parts.flatMap((part) => {
    // Noted shapes say that windows have as many frames as their new features. ONNX Runtime would reuse buffers by that.
    if (part.number === GRAPH.shapes) return [];
    if (part.number !== GRAPH.node) return [part.whole];
    const inside = fieldsOf(part.value);
    const isProducer = inside.some((field) => isOutput(field) && textOf(field) === tensor);
    if (!isProducer) return [part.whole];
    const named = inside.flatMap((field) => {
      const name = isOutput(field) ? renamed[textOf(field)] : undefined;
      return name === undefined ? [field.whole] : delimited(NODE.output, [bytes(name)]);
    });
    return [...delimited(GRAPH.node, named), ...after];
  });
  const whole = delimited(MODEL.graph, [...nodes, ...values]);
  return fields.flatMap((field) => (field === graph ? whole : [field.whole]));
}

function isOutput({ number }: Field): boolean {
  return number === NODE.output;
}

function node(
  type: string,
  input: { readonly inputs: readonly string[]; readonly output: string; readonly axis?: number },
): Parts {
  const { inputs, output, axis } = input;
  return delimited(GRAPH.node, [
    ...inputs.flatMap((name) => delimited(NODE.input, [bytes(name)])),
    ...delimited(NODE.output, [bytes(output)]),
    ...delimited(NODE.type, [bytes(type)]),
    ...(axis === undefined ? [] : delimited(NODE.attribute, axisAttribute(axis))),
  ]);
}

function axisAttribute(axis: number): Parts {
  return [
    ...delimited(ATTRIBUTE.name, [bytes('axis')]),
    ...whole(ATTRIBUTE.number, axis),
    ...whole(ATTRIBUTE.type, INT_ATTRIBUTE),
  ];
}

/** An input or output of floats. */
function value(number: number, name: string, shape?: readonly (string | number)[]): Parts {
  const dimensions = shape?.flatMap((one) =>
    delimited(
      SHAPE.dimension,
      typeof one === 'number'
        ? whole(DIMENSION.number, one)
        : delimited(DIMENSION.name, [bytes(one)]),
    ),
  );
  const tensor = [
    ...whole(TENSOR_TYPE.elements, FLOAT),
    ...(dimensions === undefined ? [] : delimited(TENSOR_TYPE.shape, dimensions)),
  ];
  const type = delimited(VALUE.type, delimited(TYPE.tensor, tensor));
  return delimited(number, [...delimited(VALUE.name, [bytes(name)]), ...type]);
}

function whole(number: number, integer: number): Parts {
  return [varint(number * 8), varint(integer)];
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function textOf({ value }: Field): string {
  return new TextDecoder().decode(value);
}
