/** The part of JSON Schema that the published documents use. */
export interface JsonSchema {
  readonly $ref?: string;
  readonly title?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
  readonly items?: JsonSchema;
  readonly anyOf?: readonly JsonSchema[];
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly required?: readonly string[];
}

export type Schemas = Readonly<Record<string, JsonSchema>>;

const DEPTH_MAX = 4;

/** Returns the fields of an object as a nested Markdown list between <!-- fields --> comments. */
export function fieldList(schema: JsonSchema, schemas: Schemas): string {
  const lines = objectFields(resolveSchema(schema, schemas), schemas, 0);
  if (lines.length === 0) return '';
  return ['<!-- fields -->', '', ...lines, '<!-- /fields -->'].join('\n');
}

export function resolveSchema(schema: JsonSchema, schemas: Schemas): JsonSchema {
  if (schema.$ref === undefined) return schema;
  const found = schemas[nameOfRef(schema.$ref)];
  if (found === undefined) throw new Error(`There is no schema ${schema.$ref}.`);
  const { $ref: _, ...own } = schema;
  return { ...resolveSchema(found, schemas), ...own };
}

function nameOfRef(ref: string): string {
  return ref.split('/').at(-1) ?? '';
}

function objectFields(schema: JsonSchema, schemas: Schemas, depth: number): string[] {
  if (depth > DEPTH_MAX) return [];
  const indent = '  '.repeat(depth);
  return Object.entries(schema.properties ?? {}).flatMap(([name, declared]) => {
    const field = resolveSchema(declared, schemas);
    const isRequired = schema.required?.includes(name) ?? false;
    const facts = [typeText(field, schemas), isRequired ? '' : 'optional'].filter(Boolean);
    const about = describeField(field);
    return [
      `${indent}- \`${name}\` *${facts.join(' · ')}*`,
      '',
      ...(about === '' ? [] : [`${indent}  ${about}`, '']),
      ...objectFields(innerObject(field, schemas), schemas, depth + 1),
    ];
  });
}

/** The object whose fields are shown beneath a field: itself, its items, or the object among its alternatives. */
function innerObject(field: JsonSchema, schemas: Schemas): JsonSchema {
  if (field.items !== undefined) return innerObject(resolveSchema(field.items, schemas), schemas);
  const alternatives = (field.anyOf ?? []).map((member) => resolveSchema(member, schemas));
  return alternatives.find(({ properties }) => properties !== undefined) ?? field;
}

function typeText(schema: JsonSchema, schemas: Schemas): string {
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.anyOf !== undefined) {
    const members = schema.anyOf.map((member) => typeText(resolveSchema(member, schemas), schemas));
    return [...new Set(members)].join(' or ');
  }
  if (schema.items !== undefined) {
    return `array of ${plural(typeText(resolveSchema(schema.items, schemas), schemas))}`;
  }
  const types = typeof schema.type === 'string' ? [schema.type] : (schema.type ?? ['any value']);
  return types.map((type) => formatted(type, schema.format)).join(' or ');
}

function formatted(type: string, format: string | undefined): string {
  if (type !== 'string' || format === undefined) return type;
  return { uuid: 'UUID', 'date-time': 'RFC 3339 time', uri: 'URL' }[format] ?? `string (${format})`;
}

function plural(type: string): string {
  return /^[a-z]+$/.test(type) ? `${type}s` : type;
}

/** The description, then the values that are allowed. */
function describeField(schema: JsonSchema): string {
  const facts = [
    schema.description?.trim().replaceAll(/\s*\n\s*/g, ' '),
    schema.enum === undefined ? undefined : `One of ${schema.enum.map(code).join(', ')}.`,
    range(schema),
    schema.maxLength === undefined ? undefined : `At most ${schema.maxLength} characters.`,
    schema.pattern === undefined ? undefined : `Matches \`${schema.pattern}\`.`,
    schema.default === undefined ? undefined : `Default ${code(schema.default)}.`,
  ];
  return facts.filter((fact) => fact !== undefined && fact !== '').join(' ');
}

function range({ minimum, maximum }: JsonSchema): string | undefined {
  if (minimum !== undefined && maximum !== undefined) return `From ${minimum} to ${maximum}.`;
  if (maximum !== undefined) return `At most ${maximum}.`;
  // "At least 0" is true of every count.
  return minimum === undefined || minimum === 0 ? undefined : `At least ${minimum}.`;
}

function code(value: unknown): string {
  return `\`${typeof value === 'string' ? value : JSON.stringify(value)}\``;
}
