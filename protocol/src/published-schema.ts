import type { TSchema } from 'typebox';

/** JSON Schema 2020-12, the dialect of OpenAPI 3.1 and AsyncAPI 3. */
export type PublishedSchema = { readonly [keyword: string]: unknown };

/**
 * The schemas as the documents show them: tuples in the newer dialect, enums with their type, titled schemas as
 * references. What we send is left open, because inside v1 it may gain fields; what we accept stays closed.
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
  const { items, additionalItems: _tuple, additionalProperties, ...rest } = schema;
  const result: Record<string, unknown> = {};
  for (const [keyword, value] of Object.entries(rest)) result[keyword] = rewrite(value, rules);
  if (Array.isArray(items)) {
    result['prefixItems'] = rewrite(items, rules);
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

export function titleOf(schema: TSchema): string {
  if ('title' in schema && typeof schema.title === 'string') return schema.title;
  throw new TypeError('A published schema needs a title.');
}

function isKeywords(value: unknown): value is PublishedSchema {
  return typeof value === 'object' && value !== null;
}
