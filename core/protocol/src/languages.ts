import type { ModelId } from './constants.ts';

export type Language = 'ki' | 'luo';

/** The languages of number words: the two that are recognised, and two that their speakers borrow from. */
export const NUMBER_LANGUAGES = ['ki', 'luo', 'sw', 'en'] as const;
export type NumberLanguage = (typeof NUMBER_LANGUAGES)[number];

export const MODELS: Readonly<Record<Language, ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};

const NAMES: Readonly<Record<string, Language>> = {
  ki: 'ki',
  kik: 'ki',
  'ki-ke': 'ki',
  'kik-ke': 'ki',
  kikuyu: 'ki',
  gikuyu: 'ki',
  luo: 'luo',
  'luo-ke': 'luo',
  'luo-tz': 'luo',
  dholuo: 'luo',
};

/** Null if the service doesn't recognise it. */
export function findLanguage(name: string): Language | null {
  const known = name.trim().toLowerCase().replace('_', '-');
  return Object.hasOwn(NAMES, known) ? (NAMES[known] ?? null) : null;
}

export function languageOf(model: ModelId): Language {
  return model === MODELS.luo ? 'luo' : 'ki';
}
