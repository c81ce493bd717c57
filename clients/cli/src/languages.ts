import { MODELS, MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { Option } from 'commander';
import { UsageError, type Context } from './command.ts';

export function languageOption(): Option {
  return new Option('-l, --language <lang>', 'ki (Kikuyu) or luo (Dholuo); default: SVC_LANGUAGE');
}

/** Returns the model for a language name, a language code or a model id. */
export function modelFor(language: string | undefined, { env }: Pick<Context, 'env'>): ModelId {
  const wanted = (language ?? env['SVC_LANGUAGE'] ?? '').toLowerCase();
  if (wanted === '') {
    throw new UsageError('No language given. Use --language ki (Kikuyu) or luo (Dholuo).');
  }
  const found = MODEL_IDS.find(
    (id) => id === wanted || MODELS[id].aliases.some((alias) => alias.toLowerCase() === wanted),
  );
  if (found !== undefined) return found;
  throw new UsageError('Unsupported language. Use --language ki (Kikuyu) or luo (Dholuo).');
}
