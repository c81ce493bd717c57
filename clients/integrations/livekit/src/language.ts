import { SvcError, type ModelId } from '@svc-asr/sdk';

export type Language = 'ki' | 'luo';

const MODELS: Readonly<Record<Language, ModelId>> = {
  ki: 'svc-asr-kikuyu-v1',
  luo: 'svc-asr-dholuo-v1',
};
/** ISO 639 codes, with or without a region. */
const CODES: Readonly<Record<string, Language>> = { ki: 'ki', kik: 'ki', luo: 'luo' };

/** Returns the model that the options name, directly or by language. Throws if they name none, or two. */
export function modelOf(options: { model?: ModelId; language?: string }): ModelId {
  const { model, language } = options;
  if (language === undefined) {
    if (model !== undefined) return model;
    throw misuse('Pass a language, ki (Kikuyu) or luo (Dholuo), or a model.');
  }
  const known = CODES[language.toLowerCase().split('-')[0] ?? ''];
  if (known === undefined) throw misuse('Unsupported language. Use ki (Kikuyu) or luo (Dholuo).');
  if (model !== undefined && model !== MODELS[known]) {
    throw misuse('The model recognises another language. Pass only one of model and language.');
  }
  return MODELS[known];
}

export function languageOf(model: ModelId): Language {
  return model === MODELS.ki ? 'ki' : 'luo';
}

function misuse(message: string): SvcError {
  return new SvcError({ code: 'invalid_language', message, retryable: false });
}
