import { expect, test } from 'vitest';
import { CONSOLE_ERRORS } from '@svc-asr/protocol/console-constants.ts';
import { renderPublicPage } from '../public/page.ts';
import { en } from './en.ts';
import { LOG_TEXTS } from './log.ts';
import { SESSION_TEXTS } from './sessions.ts';
import { sw } from './sw.ts';
import { USAGE_TEXTS } from './usage.ts';

function leaves(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  if (typeof value === 'function') return [[path, String(value('1', '2', '3'))]];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, `${path}.${key}`));
}

function paths(texts: unknown): string[] {
  return leaves(texts).map(([path]) => path);
}

test('has every text in both languages and a message for every error code', () => {
  expect(paths(sw)).toEqual(paths(en));
  expect(paths(SESSION_TEXTS.sw)).toEqual(paths(SESSION_TEXTS.en));
  expect(paths(USAGE_TEXTS.sw)).toEqual(paths(USAGE_TEXTS.en));
  expect(paths(LOG_TEXTS.sw)).toEqual(paths(LOG_TEXTS.en));
  const all = [en, sw, SESSION_TEXTS, USAGE_TEXTS, LOG_TEXTS].flatMap((texts) => leaves(texts));
  expect(all.filter(([, text]) => text.trim() === '')).toEqual([]);
  const hidden = new Set(['cross_site_request']);
  const unexplained = Object.keys(CONSOLE_ERRORS).filter(
    (code) => !hidden.has(code) && !(code in en.errors.codes && code in sw.errors.codes),
  );
  expect(unexplained).toEqual([]);
});

test('renders the complete public page without scripts in both languages', () => {
  for (const language of ['en', 'sw'] as const) {
    const page = renderPublicPage(language);
    expect(page).toContain('gũkuona');
    expect(page).not.toMatch(/undefined|\[object|<script|\sstyle=/);
  }
});

test('never calls a passkey a key', () => {
  const passkeys = leaves(sw).filter(([path]) => path.toLowerCase().includes('passkey'));
  expect(passkeys.filter(([, text]) => /\bu?funguo\b/i.test(text))).toEqual([]);
});
