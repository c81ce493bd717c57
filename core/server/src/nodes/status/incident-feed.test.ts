import type { Incident } from '@svc-asr/protocol/service-status.ts';
import { expect, test } from 'vitest';
import { incidentFeed } from './incident-feed.ts';

const OPEN: Incident = {
  id: 3,
  text: 'Calls <were> cut off',
  started_at: '2027-01-31T12:00:00.000Z',
  ended_at: null,
  updated_at: '2027-01-31T12:05:00.000Z',
};

function idsOf(feed: string): string[] {
  return [...feed.matchAll(/<id>(.*?)<\/id>/g)].map(([, id = '']) => id);
}

test('an incident keeps its id when its text and times change', () => {
  const at = { url: 'https://api.example', at: OPEN.updated_at };
  const first = incidentFeed([OPEN], at);
  const resolved = {
    ...OPEN,
    text: 'Calls from Kisumu were cut off',
    started_at: '2027-01-31T11:50:00.000Z',
    ended_at: '2027-01-31T12:40:00.000Z',
    updated_at: '2027-01-31T12:41:00.000Z',
  };
  const later = incidentFeed([{ ...OPEN, id: 4 }, resolved], at);
  expect(idsOf(first)).toEqual([
    'https://api.example/status',
    'https://api.example/status#incident-3',
  ]);
  expect(idsOf(later)).toContain('https://api.example/status#incident-3');
  expect(first).toContain('Ongoing: Calls &lt;were&gt; cut off');
  expect(later).toContain('<updated>2027-01-31T12:41:00.000Z</updated>');
});
