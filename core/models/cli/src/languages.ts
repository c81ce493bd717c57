import type { ModelId } from '@svc-asr/protocol';

export type Language = 'ki' | 'luo';
export const LANGUAGES: readonly Language[] = ['ki', 'luo'];

export const MODEL_OF: Readonly<Record<Language, ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};
