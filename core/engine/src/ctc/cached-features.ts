/**
 * The names by which `svc-models` adds a cache to an offline CTC model. Such a model puts `cached` before the features that it
 * computes of the samples, and also returns the new ones, so that overlapping windows compute each feature once.
 */
export const FEATURES = { cached: 'cached_features', computed: 'computed_features' } as const;

/**
 * The names of a streamed model, which also caches keys and values. `context` features at the beginning are for the positional
 * convolution only. The model puts `cached`0, 1, ... before the new keys and values, and returns those from `from` to `to` of
 * both as `kept`0, 1, ...
 */
export const STREAMED = {
  context: 'context_frames',
  from: 'kept_from',
  to: 'kept_to',
  cached: 'cached_attention_',
  kept: 'kept_attention_',
} as const;

/** Whether `svc-models` has added this input. */
export function isCacheInput(name: string): boolean {
  const others: readonly string[] = [FEATURES.cached, STREAMED.context, STREAMED.from, STREAMED.to];
  return name.startsWith(STREAMED.cached) || others.includes(name);
}
