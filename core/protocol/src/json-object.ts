export type JsonObject = Record<string, unknown>;

/** Parses a JSON object. Returns an empty one for anything else, because an invalid frame must not end a call. */
export function parseObject(message: string): JsonObject {
  try {
    return toObject(JSON.parse(message));
  } catch {
    return {};
  }
}

export function field(object: JsonObject, name: string): JsonObject {
  return toObject(object[name]);
}

export function text(object: JsonObject, name: string): string | undefined {
  const value = object[name];
  return typeof value === 'string' ? value : undefined;
}

function toObject(value: unknown): JsonObject {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return {};
  return Object.fromEntries(Object.entries(value));
}
