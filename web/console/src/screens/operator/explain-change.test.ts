import type { AuditLogEntry } from '@svc-asr/protocol/console/operator.ts';
import { expect, test } from 'vitest';
import { en } from '../../texts/en.ts';
import { OPERATOR_TEXTS } from '../../texts/operator.ts';
import { explainChange } from './explain-change.ts';

const texts = { common: en, operator: OPERATOR_TEXTS.en };
const ENTRY: AuditLogEntry = {
  id: 1,
  at: '2026-01-31T12:00:00Z',
  action: 'command',
  account_id: null,
  account_name: null,
  actor: 'amina@service.example',
  target: 'credit grant',
  target_name: null,
  before: null,
  after: null,
  source: null,
  request_id: null,
  imported_from: null,
};

test.each<[string, Partial<AuditLogEntry>]>([
  ['amina@service.example ran svc-admin credit grant.', {}],
  [
    'A wrong code was entered for otieno@radio.example.',
    { action: 'sign_in.failed', actor: null, target_name: 'otieno@radio.example' },
  ],
  [
    'amina@service.example took the operator role from a deleted person.',
    { action: 'operator.changed', after: '{"is_operator": false}' },
  ],
  [
    'amina@service.example ended incident 3.',
    { action: 'incident.changed', target: '3', after: '{"ended_at": "2026-01-31T12:40:00Z"}' },
  ],
  [
    'amina@service.example suspended this account.',
    { action: 'account.changed', after: '{"status": "suspended", "reason": "unpaid"}' },
  ],
  ['amina@service.example erased a request for access.', { action: 'waitlist.erased' }],
  ['amina@service.example: moon.landed', { action: 'moon.landed' }],
])('says "%s"', (sentence, entry) => {
  expect(explainChange({ ...ENTRY, ...entry }, texts)).toBe(sentence);
});
