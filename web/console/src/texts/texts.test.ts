import { expect, test } from 'vitest';
import { CONSOLE_ERRORS } from '@svc-asr/protocol/console/constants.ts';
import { renderPublicPage } from '../public/page.ts';
import { en } from './en.ts';
import { DEVICE_TEXTS } from './devices.ts';
import { FIRST_RUN_TEXTS } from './first-run.ts';
import { PLAYGROUND_TEXTS } from './playground.ts';
import { PALETTE_TEXTS } from './palette.ts';
import { PUBLIC_TEXTS } from '../public/texts.ts';
import { CREDIT_TEXTS } from './credit.ts';
import { LOG_TEXTS } from './log.ts';
import { OPERATOR_TEXTS } from './operator.ts';
import { OUTCOME_TEXTS } from './outcomes.ts';
import { SESSION_TEXTS } from './sessions.ts';
import { sw } from './sw.ts';
import { USAGE_TEXTS } from './usage.ts';

/** Texts that load with their page. */
const BY_PAGE = [
  SESSION_TEXTS,
  USAGE_TEXTS,
  LOG_TEXTS,
  DEVICE_TEXTS,
  PALETTE_TEXTS,
  FIRST_RUN_TEXTS,
  PLAYGROUND_TEXTS,
  CREDIT_TEXTS,
  OPERATOR_TEXTS,
  OUTCOME_TEXTS,
  PUBLIC_TEXTS,
];

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
  for (const texts of BY_PAGE) expect(paths(texts.sw)).toEqual(paths(texts.en));
  const all = [en, sw, ...BY_PAGE].flatMap((texts) => leaves(texts));
  expect(all.filter(([, text]) => text.trim() === '')).toEqual([]);
  // A page of ours never gets the first, and the public page has its own texts for the others.
  const hidden = new Set(['cross_site_request', 'demo_used', 'demo_closed']);
  const unexplained = Object.keys(CONSOLE_ERRORS).filter(
    (code) => !hidden.has(code) && !(code in en.errors.codes && code in sw.errors.codes),
  );
  expect(unexplained).toEqual([]);
});

test('renders the complete public page without scripts in both languages', () => {
  for (const language of ['en', 'sw'] as const) {
    const page = renderPublicPage(language, { rows: [] });
    expect(page).toContain('gũkuona');
    expect(page).not.toMatch(/undefined|\[object|<script|\sstyle=/);
  }
});

/** Names, codes and signs, which are the same in both languages. */
const SAME = /^(?:[^a-z]*|\d+ s|Dholuo|curl|Node|Python)$/i;

test('no Swahili text is the English one', () => {
  const pairs = [{ en, sw }, ...BY_PAGE].flatMap((texts) => {
    const english = new Map(leaves(texts.en));
    return leaves(texts.sw).filter(([path, text]) => english.get(path) === text);
  });
  const translated = pairs.filter(([path]) => !path.endsWith('.retry'));
  expect(translated.filter(([, text]) => !SAME.test(text))).toEqual([]);
});

/** Other Swahili words for what has a word already: stream, client, account, number, enrolment, "at most". */
const SECOND_WORDS =
  /mi?tiririko|\bm?teja\b|hesabu\b|nambari|ya kusajili|wa kusajili|kwa wingi|miito/i;

test('Swahili texts have one word for each term', () => {
  const all = [sw, ...BY_PAGE.map((page) => page.sw)].flatMap((texts) => leaves(texts));
  expect(all.filter(([, text]) => SECOND_WORDS.test(text))).toEqual([]);
});

test('never calls a passkey a key', () => {
  const passkeys = leaves(sw).filter(([path]) => path.toLowerCase().includes('passkey'));
  expect(passkeys.filter(([, text]) => /\bu?funguo\b/i.test(text))).toEqual([]);
});

/** Numbers that are constants of the protocol, and never one. */
const NEVER_ONE = /\.(csvHint|lead|noText|keyterms\.count|demo\.start|accuracy\.delay)$/;
const WRONG_PLURAL = /(?<![\d.,])1 [a-z]{3,}s\b/;

test('no English text says "1 sessions"', () => {
  for (const texts of [en, ...BY_PAGE.map((page) => page.en)]) {
    // Some take a number, others its text.
    const wrong = [1, '1'].map((one) =>
      spoken(texts, one).filter(([path, text]) => !NEVER_ONE.test(path) && WRONG_PLURAL.test(text)),
    );
    const [asNumber = [], asText = []] = wrong.map((found) => found.map(([path]) => path));
    expect(asNumber.filter((path) => asText.includes(path))).toEqual([]);
  }
});

/** The texts with an argument, said with one of everything. */
function spoken(texts: unknown, one: number | string, path = ''): [string, string][] {
  if (typeof texts === 'function') return [[path, String(texts(one, one, one))]];
  if (typeof texts !== 'object' || texts === null) return [];
  return Object.entries(texts).flatMap(([key, inner]) => spoken(inner, one, `${path}.${key}`));
}
