import { MODEL_IDS, type ModelId } from '@svc-asr/protocol/constants.ts';
import { findLanguage, languageOf, MODELS, type Language } from '@svc-asr/protocol/languages.ts';
import { badRequest, Refusal } from './refusal.ts';

/** What a request says about its language. */
export interface Asked {
  /** Their `model`. Null if it names none. */
  readonly model: string | null;
  /** Their `language` or `languages[]`, in the order given. */
  readonly languages: readonly string[];
  /** The `/ki` or `/luo` at the start of the path. */
  readonly prefix: Language | null;
  /** Where their language stands. Default: `language`. */
  readonly parameter?: string;
}

export interface Choice {
  readonly model: ModelId;
  readonly language: Language;
  /** Whether the request itself named it. The alternative is the program's default. */
  readonly isExplicit: boolean;
  /** Whether the request named a language that was not used, such as the `en` that frameworks send by default. */
  readonly ignoresLanguage: boolean;
}

/** Names that many programs can't change. They stand for the model of the language. */
const ALIASES: ReadonlySet<string> = new Set([
  'whisper-1',
  'gpt-4o-transcribe',
  'gpt-4o-mini-transcribe',
  'gpt-transcribe',
  'gpt-live-transcribe',
  'gpt-realtime-whisper',
]);
/** Deepgram's families have many variants, such as `nova-2-phonecall`. */
const DEEPGRAM_FAMILY = /^(?:nova|enhanced|base|whisper|flux)(?:-[a-z0-9-]{1,32})?$/;
const NAMES = MODEL_IDS.join(' or ');

const UNKNOWN_MODEL = new Refusal({
  status: 404,
  code: 'model_not_found',
  message: `The requested model does not exist. Use ${NAMES}.`,
  param: 'model',
});

/**
 * Chooses the model: our model id, then the language, then the path's prefix, then the program's default. Speech is never
 * transcribed in a language that the request doesn't ask for: contradictions and other languages are refused.
 */
export function chooseModel(asked: Asked, fallback: Language | null): Choice {
  const named = modelLanguage(asked.model);
  const { parameter = 'language' } = asked;
  const languages = asked.languages.filter((name) => name.trim() !== '');
  const known = new Set(languages.map(findLanguage).filter((language) => language !== null));
  const explicit = new Set([named, ...known, asked.prefix].filter((language) => language !== null));
  if (explicit.size > 1) {
    throw badRequest(
      'language_contradiction',
      `The model, the language and the address name different languages. Send one model id, ${NAMES}, and no other language.`,
      parameter,
    );
  }
  const [chosen = null] = explicit;
  if (chosen === null && languages.length > 0) {
    throw badRequest(
      'unsupported_language',
      `The language is not supported. Send ${parameter} ki (Kikuyu) or luo (Dholuo), or the model ${NAMES}.`,
      parameter,
    );
  }
  const language = chosen ?? fallback;
  if (language === null) {
    throw badRequest(
      'missing_language',
      `No language was named. Send ${parameter} ki (Kikuyu) or luo (Dholuo), or the model ${NAMES}, or begin the path of the address with /ki or /luo.`,
      parameter,
    );
  }
  const ignoresLanguage = languages.some((name) => findLanguage(name) === null);
  return { model: MODELS[language], language, isExplicit: chosen !== null, ignoresLanguage };
}

/** The language of our model id. Null for aliases. Throws for anything else. */
function modelLanguage(model: string | null): Language | null {
  const ours = MODEL_IDS.find((id) => id === model);
  if (ours !== undefined) return languageOf(ours);
  if (model === null || model === '') return null;
  if (ALIASES.has(model) || DEEPGRAM_FAMILY.test(model)) return null;
  throw UNKNOWN_MODEL;
}

/** Splits `/ki/v1/listen` into the language and `/v1/listen`. */
export function splitPrefix(path: string): {
  readonly prefix: Language | null;
  readonly path: string;
} {
  const [, prefix = '', rest = ''] = /^\/(ki|luo)(\/.*)$/.exec(path) ?? [];
  if (prefix !== 'ki' && prefix !== 'luo') return { prefix: null, path };
  return { prefix, path: rest };
}
