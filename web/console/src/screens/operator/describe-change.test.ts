import { expect, test } from 'vitest';
import { describeChange } from './describe-change.ts';

test('shows each value before and after, and the reason apart from them', () => {
  const before = '{"status": "active", "concurrency_limit": 1}';
  const after = '{"status": "suspended", "concurrency_limit": 2, "reason": "unpaid"}';
  expect(describeChange({ before, after })).toEqual({
    changes: ['status: active → suspended', 'concurrency_limit: 1 → 2'],
    reason: 'unpaid',
  });
});

test('shows created and deleted values', () => {
  const after = '{"role": "owner", "scopes": null}';
  expect(describeChange({ before: null, after }).changes).toEqual(['role: owner']);
  expect(describeChange({ before: '{"role": "owner"}', after: null }).changes).toEqual([
    'role: owner → –',
  ]);
  expect(describeChange({ before: null, after: null })).toEqual({ changes: [], reason: null });
});
