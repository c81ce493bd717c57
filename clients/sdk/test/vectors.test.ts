import { describe, expect, test } from 'vitest';
import {
  closeOutcome,
  errorOutcome,
  failoverOutcome,
  livenessOutcome,
  lostOutcome,
  readVectors,
  replayOutcome,
  retryOutcome,
} from './vectors.ts';

/** clients/sdk-python/tests/test_vectors.py runs the same files. */

describe('shared vectors: error responses', () => {
  test.each(readVectors('errors'))('$title', (vector) => {
    expect(errorOutcome(vector)).toEqual(vector.expect);
  });
});

describe('shared vectors: retries', () => {
  test.each(readVectors('retry'))('$title', (vector) => {
    expect(retryOutcome(vector)).toBe(vector.expect);
  });
});

describe('shared vectors: closes', () => {
  test.each(readVectors('close'))('$title', (vector) => {
    expect(closeOutcome(vector)).toEqual(vector.expect);
  });
});

describe('shared vectors: waits between sessions', () => {
  test.each(readVectors('failover'))('$title', (vector) => {
    const waits = failoverOutcome(vector).map((wait) => (wait === null ? null : Math.round(wait)));
    const within: unknown = Array.isArray(vector.expect)
      ? vector.expect.map((range, at) => (isBetween(waits[at], range) ? range : waits[at]))
      : null;
    expect(within).toEqual(vector.expect);
    expect(waits).toHaveLength(Array.isArray(vector.expect) ? vector.expect.length : -1);
  });
});

describe('shared vectors: liveness', () => {
  test.each(readVectors('liveness'))('$title', (vector) => {
    expect(livenessOutcome(vector)).toEqual(vector.expect);
  });
});

describe('shared vectors: lost sessions', () => {
  test.each(readVectors('lost'))('$title', (vector) => {
    expect(lostOutcome(vector)).toEqual(vector.expect);
  });
});

describe('shared vectors: replay and stitching', () => {
  test.each(readVectors('replay'))('$title', (vector) => {
    expect(replayOutcome(vector)).toEqual(vector.expect);
  });
});

/** Null: the stream ends; else [least, most] in ms. */
function isBetween(wait: number | null | undefined, range: unknown): boolean {
  if (!Array.isArray(range)) return wait === range;
  return wait !== null && wait !== undefined && wait >= range[0] && wait <= range[1];
}
