import * as protocol from '@svc-asr/protocol';
import { isRecord } from '../src/response-guards.ts';

/**
 * Generates the protocol's types as plain TypeScript from its schemas. The published package then needs neither the
 * protocol package nor its schema library, and cannot differ from them.
 */
export function wireTypes(): string {
  const parts = ["import type { ModelId } from './constants.js';", 'export type { ModelId };'];
  const byName = Object.entries<unknown>(protocol).toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [name, schema] of byName) {
    if (!isSchema(schema)) continue;
    const body = print(schema, '');
    const about =
      typeof schema['description'] === 'string' ? `/** ${schema['description']} */\n` : '';
    const isObject = schema['type'] === 'object';
    parts.push(
      about + (isObject ? `export interface ${name} ${body}` : `export type ${name} = ${body};`),
    );
  }
  parts.push(union('ApiErrorCode', Object.keys(protocol.API_ERRORS)));
  parts.push(union('StreamErrorCode', Object.keys(protocol.STREAM_ERRORS)));
  parts.push(union('SessionStatus', protocol.SESSION_STATUSES));
  return `${parts.join('\n\n')}\n`;
}

type Schema = Record<string, unknown>;

/** Whether an export is a schema and not a constant. */
function isSchema(value: unknown): value is Schema {
  if (!isRecord(value) || Array.isArray(value)) return false;
  return typeof value['type'] === 'string' || Array.isArray(value['anyOf']);
}

function print(schema: unknown, indent: string): string {
  if (!isRecord(schema)) throw new TypeError('Not a schema.');
  if ('const' in schema) return JSON.stringify(schema['const']);
  if (Array.isArray(schema['enum'])) {
    return schema['enum'].map((value) => JSON.stringify(value)).join(' | ');
  }
  if (Array.isArray(schema['anyOf'])) {
    return schema['anyOf'].map((option) => print(option, indent)).join(' | ');
  }
  switch (schema['type']) {
    case 'object':
      return printObject(schema, indent);
    case 'array':
      return Array.isArray(schema['items'])
        ? `[${schema['items'].map((item) => print(item, indent)).join(', ')}]`
        : `(${print(schema['items'], indent)})[]`;
    case 'integer':
    case 'number':
      return 'number';
    case 'string':
    case 'boolean':
    case 'null':
      return schema['type'];
    default:
      throw new TypeError(`No type for ${JSON.stringify(schema)}.`);
  }
}

function printObject(schema: Schema, indent: string): string {
  const inner = `${indent}  `;
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  const lines = properties.flatMap(([name, property]) => {
    const about = isRecord(property) ? property['description'] : undefined;
    const mark = required.includes(name) ? '' : '?';
    return [
      ...(typeof about === 'string' ? [`${inner}/** ${about} */`] : []),
      `${inner}${name}${mark}: ${print(property, inner)};`,
    ];
  });
  return `{\n${lines.join('\n')}\n${indent}}`;
}

function union(name: string, members: readonly string[]): string {
  return `export type ${name} =\n  | ${members.map((member) => JSON.stringify(member)).join('\n  | ')};`;
}
