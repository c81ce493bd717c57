import { MODELS, MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { UsageError, type Invocation, text } from './command.ts';

/** By language, as people say it, or by model id. */
export function chosenModel(invocation: Invocation): ModelId {
  const wish = text(invocation, 'language') ?? invocation.env['SVC_LANGUAGE'];
  if (wish === undefined || wish === '') {
    throw new UsageError('Say which language is spoken: --language ki (Kikuyu) or luo (Dholuo).');
  }
  const spoken = wish.toLowerCase();
  const found = MODEL_IDS.find(
    (id) => id === spoken || MODELS[id].aliases.some((alias) => alias.toLowerCase() === spoken),
  );
  if (found !== undefined) return found;
  throw new UsageError(
    'There is no such language here. Use --language ki (Kikuyu) or luo (Dholuo).',
  );
}
