/**
 * The names by which `svc-models` adds a cache to an offline CTC model. Such a model puts `cached` before the features that it
 * computes of the samples, and also returns the new ones, so that overlapping windows compute each feature once.
 */
export const FEATURES = { cached: 'cached_features', computed: 'computed_features' } as const;
