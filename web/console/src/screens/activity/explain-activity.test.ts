import type { ActivityEntry } from '@svc-asr/protocol/console/console.ts';
import { expect, test } from 'vitest';
import { en } from '../../texts/en.ts';
import { explainActivity, findBeforeRename } from './explain-activity.ts';

const ENTRY = {
  at: '2026-01-01T00:00:00Z',
  by: 'person',
  actor: 'amina@example.com',
  target: 'AbCdEf123456',
  target_name: 'production',
  before: null,
  after: null,
  source: null,
  request_id: null,
} as const satisfies Partial<ActivityEntry>;

test('an entry from before a rename of its key does not pretend that the key had its new name', () => {
  const entries = [
    { ...ENTRY, id: 4, action: 'api_key.changed', after: '{"revoked_at":"2026-01-02T00:00:00Z"}' },
    { ...ENTRY, id: 3, action: 'api_key.renamed' },
    { ...ENTRY, id: 2, action: 'api_key.created' },
    { ...ENTRY, id: 1, action: 'api_key.created', target: 'Zz0000000000', target_name: 'other' },
  ];
  const old = findBeforeRename(entries);
  expect(entries.map((entry) => explainActivity(entry, en, old.has(entry)))).toEqual([
    'amina@example.com revoked the API key "production".',
    'amina@example.com renamed an API key. Its name is now "production".',
    'amina@example.com created the API key AbCdEf123456…, which is now named "production".',
    'amina@example.com created the API key "other".',
  ]);
});
