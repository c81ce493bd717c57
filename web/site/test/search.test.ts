import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createSearch } from '../client/search-engine.ts';
import { renderSite } from '../src/pages.ts';
import type { SearchSection } from '../src/search-index.ts';

/** What readers type, and the page that must come first. */
const EXPECTED: readonly (readonly [query: string, page: string])[] = [
  ['quickstart', '/docs/start/quickstart'],
  ['install', '/docs/guides/install'],
  ['page', '/docs/guides/browser'],
  ['microphone', '/docs/guides/browser'],
  ['cors', '/docs/guides/browser'],
  ['react', '/docs/guides/react'],
  ['android', '/docs/guides/react'],
  ['python', '/docs/guides/python'],
  ['captions', '/docs/guides/captions'],
  ['srt', '/docs/guides/captions'],
  ['timestamps', '/docs/guides/captions'],
  ['numbers', '/docs/guides/numbers'],
  ['voice notes', '/docs/guides/voice-notes'],
  ['whatsapp', '/docs/guides/voice-notes'],
  ['livekit', '/docs/guides/voice-agents'],
  ['pipecat', '/docs/guides/voice-agents'],
  ['telephony', '/docs/guides/telephony'],
  ['twilio', '/docs/guides/telephony'],
  ['openai', '/docs/guides/compatible'],
  ['low bandwidth', '/docs/guides/low-bandwidth'],
  ['emulator', '/docs/guides/testing-with-the-emulator'],
  ['jest', '/docs/guides/testing-with-the-emulator'],
  ['troubleshooting', '/docs/guides/troubleshooting'],
  ['production checklist', '/docs/guides/production-checklist'],
  ['keyterms', '/docs/concepts/keyterms'],
  ['endpointing', '/docs/concepts/turns'],
  ['vad', '/docs/concepts/turns'],
  ['credit', '/docs/concepts/sessions-and-credit'],
  ['pricing', '/docs/concepts/sessions-and-credit'],
  ['api keys', '/docs/concepts/keys'],
  ['limits', '/docs/concepts/limits'],
  ['latency', '/docs/concepts/latency'],
  ['privacy', '/docs/privacy'],
  ['errors', '/docs/errors'],
  ['session_credential_used', '/docs/guides/troubleshooting'],
  ['batch', '/docs/guides/command-line'],
  ['folder', '/docs/guides/command-line'],
  ['resume', '/docs/guides/command-line'],
  ['command line', '/docs/guides/command-line'],
  ['express', '/docs/guides/browser'],
  ['kubernetes', '/docs/operations/kubernetes'],
  ['backup', '/docs/operations/backup-and-restore'],
  ['deepgram', '/docs/guides/compatible'],
];
const assets = { stylesheet: '', withoutScript: '', early: '', main: '' };
const root = join(import.meta.dirname, '../../..');
const site = await renderSite({ root, assets, repository: null });
const sections: SearchSection[] = JSON.parse(site.files.get('/docs/search.json') ?? '[]');
const search = await createSearch(sections);

function pagesOf(query: string): string[] {
  return search(query).map(({ section }) => section.url.split('#')[0] ?? '');
}

test.each(EXPECTED)('“%s” finds %s first', (query, page) => {
  expect(pagesOf(query)[0]).toBe(page);
});

test('contributors’ pages come after all others', () => {
  const groups = search('recogniser').map(({ section }) => section.group);
  const first = groups.indexOf('Contribute');
  expect(groups.slice(first === -1 ? groups.length : first)).toEqual(
    groups.filter((group) => group === 'Contribute'),
  );
});

test('the beginning of a page comes before its other parts if its title matches', () => {
  for (const query of ['captions', 'keyterms', 'troubleshooting']) {
    expect(search(query)[0]?.section.heading).toBe('');
  }
});
