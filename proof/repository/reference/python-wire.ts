import * as protocol from '@svc-asr/protocol';

/**
 * Generates Python dataclasses from the wire schemas. `from_wire` fills missing fields with empty
 * values, so that a newer package works with a server that doesn't send them yet.
 */
export function pythonWire(): string {
  const classes = new Map<string, string>();
  for (const schema of [protocol.Model, protocol.AsrSession, protocol.CreditBalance]) {
    addClass(schema, classes);
  }
  const events = protocol.ServerEvent.anyOf.map((schema) => addClass(schema, classes));
  const entries = protocol.ServerEvent.anyOf.map(
    (schema, at) => `    ${JSON.stringify(schema.properties.type.const)}: ${events[at]},`,
  );
  const models = protocol.MODEL_IDS.map((id) => JSON.stringify(id)).join(', ');
  const body = [...classes.values()].map((text) => `\n\n${text}`);
  const needsHelper = body.some((text) => text.includes('_object_or_plain'));
  const header = needsHelper
    ? HEADER.replace('import Mapping', 'import Callable, Mapping')
    : HEADER;
  return [
    header,
    `ModelId: TypeAlias = Literal[${models}]`,
    NO_NAME,
    ...(needsHelper ? [OBJECT_OR_PLAIN] : []),
    ...body,
    `\n\nServerEvent: TypeAlias = (\n    ${events.join('\n    | ')}\n)`,
    `EVENT_CLASSES: Mapping[str, type[ServerEvent]] = {\n${entries.join('\n')}\n}\n`,
  ].join('\n');
}

const HEADER = `"""The resources and events of the API. Written by \`npm run docs\` from core/protocol/; do not edit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
`;

/** A missing name must not become the first of its list. */
const NO_NAME = '_NO_NAME: Any = ""';

const OBJECT_OR_PLAIN = `

def _object_or_plain(read: Callable[[Mapping[str, Any]], Any], value: Any) -> Any:
    return read(value) if isinstance(value, Mapping) else value
`;

/** Fields that \`repr()\` must not show. */
const SECRET_FIELDS = new Set(['websocket_protocols']);

type Schema = Record<string, unknown>;

function isSchema(value: unknown): value is Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

interface PythonType {
  readonly name: string;
  /** The value of a field that was not sent. */
  readonly empty: string;
  readonly read: (wire: string) => string;
}

/** Returns the class's name, after the classes that it needs were added. */
function addClass(schema: unknown, classes: Map<string, string>, untitled = ''): string {
  const name = isSchema(schema) ? (schema['title'] ?? untitled) : '';
  if (!isSchema(schema) || typeof name !== 'string' || name === '') {
    throw new TypeError('A resource or event of the wire needs a title.');
  }
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isSchema(schema['properties']) ? Object.entries(schema['properties']) : [];
  const fields: string[] = [];
  const reads: string[] = [];
  for (const [key, property] of properties) {
    const type = pythonType(property, classes, `${name}${capitalised(key)}`);
    const isRequired = required.includes(key);
    fields.push(
      `    ${key}: ${fieldType(key, property, type, isRequired)}`,
      ...docstring(property),
    );
    reads.push(`            ${key}=${fieldRead(key, type, isRequired)},`);
  }
  classes.set(
    name,
    [
      '@dataclass(frozen=True, kw_only=True, slots=True)',
      `class ${name}:`,
      ...docstring(schema),
      '',
      ...fields,
      '',
      '    @classmethod',
      `    def from_wire(cls, wire: Mapping[str, Any]) -> ${name}:`,
      '        return cls(',
      ...reads,
      '        )',
    ].join('\n'),
  );
  return name;
}

/** The description as a docstring, wrapped. */
function docstring(schema: unknown): string[] {
  const about = isSchema(schema) ? schema['description'] : undefined;
  if (typeof about !== 'string') return [];
  const lines = [''];
  for (const word of about.split(' ')) {
    const line = lines.at(-1) ?? '';
    if (line === '') lines[lines.length - 1] = word;
    else if (line.length + word.length < DOC_COLUMNS) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  const [first = '', ...rest] = lines;
  if (rest.length === 0) return [`    """${first}"""`];
  return [`    """${first}`, ...rest.map((line) => `    ${line}`), '    """'];
}

const DOC_COLUMNS = 100;

function fieldType(key: string, schema: unknown, type: PythonType, isRequired: boolean): string {
  if (!isRequired) return `${type.name} | None = None`;
  if (SECRET_FIELDS.has(key)) return `${type.name} = field(repr=False)`;
  const isConstant = isSchema(schema) && 'const' in schema;
  return isConstant ? `${type.name} = ${type.empty}` : type.name;
}

function fieldRead(key: string, type: PythonType, isRequired: boolean): string {
  const quoted = JSON.stringify(key);
  if (isRequired) return type.read(`wire.get(${quoted}, ${type.empty})`);
  const isPlain = type.read('x') === 'x';
  if (isPlain) return `wire.get(${quoted})`;
  return `None if wire.get(${quoted}) is None else ${type.read(`wire[${quoted}]`)}`;
}

/** `untitled` names the class of an object without a title. */
function pythonType(schema: unknown, classes: Map<string, string>, untitled: string): PythonType {
  if (!isSchema(schema)) throw new TypeError('Not a schema.');
  if ('const' in schema) return literal([schema['const']]);
  if (Array.isArray(schema['enum'])) return literal(schema['enum']);
  if (Array.isArray(schema['anyOf'])) {
    return union(schema['anyOf'].map((option) => pythonType(option, classes, untitled)));
  }
  switch (schema['type']) {
    case 'object':
      return nested(addClass(schema, classes, untitled));
    case 'array':
      return Array.isArray(schema['items'])
        ? tuple(schema['items'].map((item) => pythonType(item, classes, untitled)))
        : list(pythonType(schema['items'], classes, untitled));
    case 'integer':
      return plain('int', '0');
    case 'number':
      return plain('float', '0');
    case 'string':
      return plain('str', '""');
    case 'boolean':
      return plain('bool', 'False');
    case 'null':
      return plain('None', 'None');
    default:
      throw new TypeError(`No Python type for ${JSON.stringify(schema)}.`);
  }
}

function capitalised(key: string): string {
  return key.charAt(0).toUpperCase() + key.slice(1);
}

function plain(name: string, empty: string): PythonType {
  return { name, empty, read: (wire) => wire };
}

function literal(values: readonly unknown[]): PythonType {
  const texts = values.map((value) => (value === false ? 'False' : JSON.stringify(value)));
  const isConstant = values.length === 1 || values.includes(false);
  return plain(`Literal[${texts.join(', ')}]`, isConstant ? (texts[0] ?? 'None') : '_NO_NAME');
}

function nested(name: string): PythonType {
  return { name, empty: '{}', read: (wire) => `${name}.from_wire(${wire})` };
}

function list(item: PythonType): PythonType {
  const read = item.read('each');
  return {
    name: `tuple[${item.name}, ...]`,
    empty: '()',
    read: (wire) => (read === 'each' ? `tuple(${wire})` : `tuple(${read} for each in ${wire})`),
  };
}

function tuple(types: readonly PythonType[]): PythonType {
  const empty = `(${types.map((type) => type.empty).join(', ')})`;
  const name = `tuple[${types.map((type) => type.name).join(', ')}]`;
  return { name, empty, read: (wire) => wire };
}

/** Of `false` and an object, or of a value and `null`. */
function union(types: readonly PythonType[]): PythonType {
  const name = types.map((type) => type.name).join(' | ');
  const object = types.find((type) => type.empty === '{}');
  const empty = types.find((type) => type.empty !== '{}')?.empty ?? 'None';
  if (object === undefined) return plain(name, types.at(-1)?.empty ?? 'None');
  return {
    name,
    empty,
    read: (wire) => `_object_or_plain(${object.name}.from_wire, ${wire})`,
  };
}
