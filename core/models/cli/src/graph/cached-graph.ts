import { FEATURES, STREAMED } from '@svc-asr/engine/cached-features.ts';
import { delimited, fieldsOf, varint, type Field } from '@svc-asr/engine/protobuf.ts';
import { cacheTensors, type CacheTensors } from './cache-tensors.ts';

/** Fields of ONNX messages; the format never renumbers them. */
const MODEL = { graph: 7 };
const GRAPH = { node: 1, initializer: 5, input: 11, output: 12, shapes: 13 };
const NODE = { input: 1, output: 2, type: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, number: 3, type: 20 };
const TENSOR = { dimension: 1, type: 2, int64Data: 7, name: 8 };
const VALUE = { name: 1, type: 2 };
const TYPE = { tensor: 1 };
const TENSOR_TYPE = { elements: 1, shape: 2 };
const SHAPE = { dimension: 1 };
const DIMENSION = { number: 1, name: 2 };
const FLOAT = 1;
const INT64 = 7;
const INT_ATTRIBUTE = 2;
const FRAMES_AXIS = 1;
const END = { name: 'end_of_frames', value: 2 ** 31 - 1 };

type Parts = readonly Uint8Array[];

/** The shape of each tensor of keys and values. */
export type AttentionShapes = readonly (readonly number[])[];

/** The model that also returns its features, keys and values, or null where the features are not one tensor. */
export function withFeatures(model: Uint8Array): Parts | null {
  return changed(model, ({ features, attention }) => {
    const shown = [features, ...attention].map((tensor, at) => ({
      tensor,
      output: at === 0 ? FEATURES.computed : `${STREAMED.kept}${at - 1}`,
    }));
    return {
      inserts: shown.map(({ tensor, output }) => ({
        tensor,
        after: node('Identity', { inputs: [tensor], output }),
      })),
      values: shown.flatMap(({ output }) => value(GRAPH.output, output)),
    };
  });
}

/** The model that takes features of earlier frames, `width` numbers each, and returns the new ones. */
export function withCachedFeatures(model: Uint8Array, width: number): Parts | null {
  return changed(model, (tensors) => featureCache(tensors, width));
}

/** The model that also takes and returns keys and values, or null where it has no positional convolution or no attention. */
export function withCachedAttention(
  model: Uint8Array,
  input: { readonly width: number; readonly shapes: AttentionShapes },
): Parts | null {
  const { width, shapes } = input;
  return changed(model, (tensors) => {
    const { attention, positioned } = tensors;
    if (positioned === null || attention.length === 0) return null;
    const caches = attention.map((tensor, at) => attentionCache(tensor, at, shapes[at] ?? []));
    const { inserts, values } = featureCache(tensors, width);
    const axes = new Set([FRAMES_AXIS, ...caches.map(({ axis }) => axis)]);
    return {
      inserts: [
        ...inserts,
        {
          tensor: positioned,
          renamed: 'all_frames',
          after: slice(
            ['all_frames', STREAMED.context, END.name, axisName(FRAMES_AXIS)],
            positioned,
          ),
        },
        ...caches.map(({ insert }) => insert),
      ],
      values: [
        ...values,
        ...constant(END.name, END.value),
        ...[...axes].flatMap((axis) => constant(axisName(axis), axis)),
        ...[STREAMED.context, STREAMED.from, STREAMED.to].flatMap((name) =>
          value(GRAPH.input, name, [1], INT64),
        ),
        ...caches.flatMap((cache) => cache.values),
      ],
    };
  });
}

interface Insert {
  readonly tensor: string;
  /** What its producer calls it from now on. */
  readonly renamed?: string;
  /** Nodes after the producer. */
  readonly after: Parts;
}

interface Change {
  readonly inserts: readonly Insert[];
  readonly values: Parts;
}

function featureCache({ features }: CacheTensors, width: number): Change {
  const inputs = [FEATURES.cached, FEATURES.computed];
  return {
    inserts: [
      {
        tensor: features,
        renamed: FEATURES.computed,
        after: node('Concat', { inputs, output: features, axis: FRAMES_AXIS }),
      },
    ],
    values: [
      ...value(GRAPH.input, FEATURES.cached, ['N', 'cached_frames', width]),
      ...value(GRAPH.output, FEATURES.computed),
    ],
  };
}

/** Keys are transposed for their product: their last axis has the frames. Values have them in the last but one. */
function attentionCache(tensor: string, at: number, shape: readonly number[]) {
  const axis = shape.length - (at % 2 === 0 ? 1 : 2);
  const [cached, kept] = [`${STREAMED.cached}${at}`, `${STREAMED.kept}${at}`];
  const renamed = `new_attention_${at}`;
  const insert: Insert = {
    tensor,
    renamed,
    after: [
      ...node('Concat', { inputs: [cached, renamed], output: tensor, axis }),
      ...slice([tensor, STREAMED.from, STREAMED.to, axisName(axis)], kept),
    ],
  };
  const values = [
    ...value(GRAPH.input, cached, shape.with(axis, NaN)),
    ...value(GRAPH.output, kept, shape.with(axis, NaN)),
  ];
  return { axis, insert, values };
}

function changed(
  model: Uint8Array,
  change: (tensors: CacheTensors) => Change | null,
): Parts | null {
  const fields = fieldsOf(model);
  const graph = fields.find(({ number }) => number === MODEL.graph);
  if (graph === undefined) return null;
  const parts = fieldsOf(graph.value);
  const tensors = cacheTensors(parts);
  const made = tensors === null ? null : change(tensors);
  if (made === null) return null;
  const inserts = new Map(made.inserts.map((insert) => [insert.tensor, insert]));
  const nodes = parts.flatMap((part) => {
    // Noted shapes say that windows have as many frames as their new features. ONNX Runtime would reuse buffers by that.
    if (part.number === GRAPH.shapes) return [];
    if (part.number !== GRAPH.node) return [part.whole];
    const inside = fieldsOf(part.value);
    const after: Uint8Array[] = [];
    const named = inside.flatMap((field) => {
      const insert = field.number === NODE.output ? inserts.get(textOf(field)) : undefined;
      if (insert === undefined) return [field.whole];
      after.push(...insert.after);
      return delimited(NODE.output, [bytes(insert.renamed ?? insert.tensor)]);
    });
    return [...delimited(GRAPH.node, named), ...after];
  });
  const whole = delimited(MODEL.graph, [...nodes, ...made.values]);
  return fields.flatMap((field) => (field === graph ? whole : [field.whole]));
}

function slice(inputs: readonly string[], output: string): Parts {
  return node('Slice', { inputs, output });
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

function axisName(axis: number): string {
  return `frames_axis_${axis}`;
}

/** A tensor with one whole number. */
function constant(name: string, integer: number): Parts {
  return delimited(GRAPH.initializer, [
    ...whole(TENSOR.dimension, 1),
    ...whole(TENSOR.type, INT64),
    ...whole(TENSOR.int64Data, integer),
    ...delimited(TENSOR.name, [bytes(name)]),
  ]);
}

/** An input or output. NaN stands for a number of frames. */
function value(
  number: number,
  name: string,
  shape?: readonly (string | number)[],
  elements = FLOAT,
): Parts {
  const dimensions = shape?.flatMap((one) => {
    const named = Number.isNaN(one) ? `${name}_frames` : one;
    return delimited(
      SHAPE.dimension,
      typeof named === 'number'
        ? whole(DIMENSION.number, named)
        : delimited(DIMENSION.name, [bytes(named)]),
    );
  });
  const tensor = [
    ...whole(TENSOR_TYPE.elements, elements),
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
