import { MODEL_IDS } from '@svc-asr/protocol/constants.ts';
import type { Language } from '@svc-asr/protocol/languages.ts';
import { chooseModel, type Choice } from '../languages.ts';
import { badRequest } from '../refusal.ts';
import type { Fields } from './upload.ts';

const RESPONSE_FORMATS = ['json', 'text', 'srt', 'vtt', 'verbose_json'] as const;
type ResponseFormat = (typeof RESPONSE_FORMATS)[number];

export interface TranscriptionParameters {
  readonly choice: Choice;
  readonly format: ResponseFormat;
  readonly isStreamed: boolean;
  readonly withWords: boolean;
  readonly withSegments: boolean;
}

const GRANULARITIES: ReadonlySet<string> = new Set(['word', 'segment']);

const MISSING_MODEL = badRequest(
  'missing_required_parameter',
  `No model was named. Send model ${MODEL_IDS.join(' or ')}, or whisper-1 with a language.`,
  'model',
);
const UNKNOWN_GRANULARITY = badRequest(
  'invalid_value',
  'This granularity is not supported. Use word, segment or both in timestamp_granularities[].',
  'timestamp_granularities',
);

/** Fields that have an effect. All others are named in the response. */
const USED: ReadonlySet<string> = new Set([
  'model',
  'language',
  'languages',
  'response_format',
  'stream',
  'timestamp_granularities',
]);

/** Reads the form. Throws for whatever we can't do; `ignore` gets the names of fields without effect. */
export function parseParameters(
  fields: Fields,
  input: {
    readonly prefix: Language | null;
    readonly fallback: Language | null;
    readonly ignore: (name: string) => void;
  },
): TranscriptionParameters {
  const one = (name: string): string | null => fields.get(name)?.at(-1) || null;
  if (one('model') === null) throw MISSING_MODEL;
  const languages = [...(fields.get('language') ?? []), ...(fields.get('languages') ?? [])];
  const choice = chooseModel(
    { model: one('model'), languages, prefix: input.prefix },
    input.fallback,
  );
  if (choice.ignoresLanguage) input.ignore('language');
  for (const name of fields.keys()) if (!USED.has(name)) input.ignore(name);
  const granularities = fields.get('timestamp_granularities') ?? [];
  if (!granularities.every((name) => GRANULARITIES.has(name))) throw UNKNOWN_GRANULARITY;
  const format = responseFormat(one('response_format'));
  if (granularities.length > 0 && format !== 'verbose_json') {
    input.ignore('timestamp_granularities');
  }
  return {
    choice,
    format,
    isStreamed: one('stream')?.toLowerCase() === 'true',
    withWords: granularities.includes('word'),
    // OpenAI's default. With words alone there are no segments.
    withSegments: granularities.length === 0 || granularities.includes('segment'),
  };
}

function responseFormat(name: string | null): ResponseFormat {
  const format = RESPONSE_FORMATS.find((known) => known === (name ?? 'json'));
  if (format !== undefined) return format;
  const hint =
    name === 'diarized_json' ? 'Speakers are not told apart. ' : 'The response format is unknown. ';
  throw badRequest(
    'unsupported_response_format',
    `${hint}Use ${RESPONSE_FORMATS.join(', ')}.`,
    'response_format',
  );
}
