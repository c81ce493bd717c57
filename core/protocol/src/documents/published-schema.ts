import type { TSchema } from 'typebox';

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1 and AsyncAPI 3. */
export type PublishedSchema = { readonly [keyword: string]: unknown };

/**
 * Returns the schemas as the documents publish them, in the part of JSON Schema that the common code generators
 * understand: no `prefixItems`, no untyped `const` or `enum`, `null` as a type. Titled schemas become references. Schemas
 * of what we send stay open, because v1 may gain fields. Schemas of what we accept are closed.
 */
export function publishSchemas(schemas: {
  readonly sent: readonly TSchema[];
  readonly accepted: readonly TSchema[];
}): Record<string, PublishedSchema> {
  const all = [...schemas.accepted, ...schemas.sent];
  const names = new Set(all.map(titleOf));
  const accepted = new Set(schemas.accepted.map(titleOf));
  return Object.fromEntries(
    all.map((schema) => {
      const name = titleOf(schema);
      return [name, rewriteKeywords(schema, { names, open: !accepted.has(name) })];
    }),
  );
}

interface Rewriting {
  readonly names: ReadonlySet<string>;
  readonly open: boolean;
}

function rewrite(value: unknown, rules: Rewriting): unknown {
  if (Array.isArray(value)) return value.map((item) => rewrite(item, rules));
  if (!isKeywords(value)) return value;
  const { title } = value;
  if (typeof title === 'string' && rules.names.has(title)) {
    return { $ref: `#/components/schemas/${title}` };
  }
  return rewriteKeywords(value, rules);
}

function rewriteKeywords(schema: object, rules: Rewriting): PublishedSchema {
  if (!isKeywords(schema)) throw new TypeError('Not a schema.');
  if (Array.isArray(schema['anyOf'])) return rewriteUnion(schema, schema['anyOf'], rules);
  const { items, additionalItems: _tuple, additionalProperties, ...rest } = schema;
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(rest)) result[keyword] = rewrite(value, rules);
  if (Array.isArray(items)) {
    result['items'] = { type: typeOfAll(items) };
    result['maxItems'] = items.length;
  } else if (items !== undefined) {
    result['items'] = rewrite(items, rules);
  }
  if (additionalProperties !== undefined && !rules.open) {
    result['additionalProperties'] = additionalProperties;
  }
  if (Array.isArray(schema['enum'])) result['type'] = 'string';
  if (Number.isInteger(schema['const'])) result['type'] = 'integer';
  return result;
}

/** Generators read `type: [string, null]` better than `anyOf` with `type: null`. */
function rewriteUnion(
  schema: PublishedSchema,
  members: readonly unknown[],
  rules: Rewriting,
): PublishedSchema {
  const { anyOf: _members, ...rest } = schema;
  const published = members.map((member) => rewrite(member, rules)).filter(isKeywords);
  const [only, ...others] = published.filter(({ type }) => type !== 'null');
  const isNullable = published.length > others.length + 1;
  if (only === undefined || others.length > 0 || !isNullable || typeof only['type'] !== 'string') {
    return { ...rest, anyOf: published };
  }
  return { ...rest, ...only, type: [only['type'], 'null'] };
}

/** The one type that all items of a tuple have. Their values are in its description. */
function typeOfAll(items: readonly unknown[]): unknown {
  const types = new Set(items.map((item) => rewriteKeywords(Object(item), CLOSED)['type']));
  const [type] = types;
  if (types.size !== 1) throw new TypeError('A published tuple needs items of one type.');
  return type;
}

const CLOSED: Rewriting = { names: new Set(), open: false };

export function titleOf(schema: TSchema): string {
  if ('title' in schema && typeof schema.title === 'string') return schema.title;
  throw new TypeError('A published schema needs a title.');
}

function isKeywords(value: unknown): value is PublishedSchema {
  return typeof value === 'object' && value !== null;
}
