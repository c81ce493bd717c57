const ID_LENGTH_MAX = 128;

declare global {
  interface JSON {
    /** Stands for a number that JSON.stringify writes as given. */
    rawJSON(text: string): number;
    isRawJSON(value: unknown): boolean;
  }
}

/**
 * Parses JSON, and keeps every `id` that is a number as its text says. JavaScript's numbers would change those beyond
 * 2^53, and the client would not recognise its id. An id that is too long becomes null.
 */
export function parseWithExactIds(text: string): unknown {
  return JSON.parse(text, (key, value: unknown, context?: { readonly source?: string }) => {
    const source = context?.source;
    if (key !== 'id' || typeof value !== 'number' || source === undefined) return value;
    if (source.length > ID_LENGTH_MAX) return null;
    return String(value) === source ? value : JSON.rawJSON(source);
  });
}

export function isMessageId(id: unknown): id is string | number {
  if (typeof id === 'string') return id.length <= ID_LENGTH_MAX;
  return typeof id === 'number' || JSON.isRawJSON(id);
}
