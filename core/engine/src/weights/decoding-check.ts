import type { Decoding, LanguageModelUse } from '../ctc/decoding.ts';

/** The range of each number in `decoding`, and its default. */
const NUMBERS = {
  beam: { min: 1, max: 256, fallback: 16 },
  prune: { min: 1, max: 100, fallback: 10 },
  prune_labels: { min: 1, max: 100, fallback: 6 },
  alpha: { min: 0, max: 10, fallback: 1 },
  beta: { min: -10, max: 10, fallback: 0.5 },
  unk_score_offset: { min: -100, max: 0, fallback: -10 },
} as const;
/** The beam of icefall's recipes: each hypothesis costs a run of the joiner in each frame. */
const ZIPFORMER_BEAM = 4;
const UNITS = ['character', 'word'] as const;

/** Reads the field `decoding` of a manifest. `lm` and `unigrams` are the paths of its language model and word list, if any. */
export function checkDecoding(
  value: unknown,
  input: {
    readonly kind: string;
    readonly lm: string | undefined;
    readonly unigrams?: string | undefined;
  },
): { decoding: Decoding | null; problems: string[] } {
  const problems: string[] = [];
  const { kind, lm, unigrams } = input;
  if (value === undefined && lm !== undefined) {
    return {
      decoding: null,
      problems: ['files.lm needs the field decoding, which says how to use it'],
    };
  }
  const isZipformer = kind === 'zipformer_transducer';
  if (value === undefined && !isZipformer) return { decoding: null, problems };
  if (kind === 'transducer') {
    return { decoding: null, problems: ['decoding is not for models of kind transducer'] };
  }
  if (value === undefined) return checkDecoding({}, input);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { decoding: null, problems: ['decoding must be an object'] };
  }
  const fields = new Map<string, unknown>(Object.entries(value));
  const number = (name: keyof typeof NUMBERS): number => {
    const { min, max } = NUMBERS[name];
    const fallback = isZipformer && name === 'beam' ? ZIPFORMER_BEAM : NUMBERS[name].fallback;
    const given = fields.get(name) ?? fallback;
    const isValid = typeof given === 'number' && given >= min && given <= max;
    if (isValid && (name !== 'beam' || Number.isInteger(given))) return given;
    problems.push(`decoding.${name} must be a number from ${min} to ${max}`);
    return fallback;
  };
  const known = [...Object.keys(NUMBERS), 'unit'];
  for (const name of fields.keys()) {
    if (!known.includes(name)) {
      problems.push(`decoding has an unknown field ${name}; its fields are ${known.join(', ')}`);
    }
  }
  const search = {
    width: number('beam'),
    pruneHypotheses: number('prune'),
    pruneLabels: number('prune_labels'),
  };
  const unknownOffset = number('unk_score_offset');
  const weights = { alpha: number('alpha'), beta: number('beta'), unknownOffset };
  if (lm === undefined) {
    const ofLm = ['unit', 'alpha', 'beta', 'unk_score_offset'];
    const needless = ofLm.filter((name) => fields.has(name));
    if (unigrams !== undefined) problems.push('files.unigrams needs files.lm');
    for (const name of needless) problems.push(`decoding.${name} needs a language model: files.lm`);
    return { decoding: search, problems };
  }
  const unit = UNITS.find((name) => name === fields.get('unit'));
  if (unit === undefined) problems.push(`decoding.unit must be ${UNITS.join(' or ')}`);
  const isOfWords = fields.has('unk_score_offset') || unigrams !== undefined;
  if (unit === 'character' && isOfWords) {
    problems.push('unk_score_offset and files.unigrams are for models of words');
  }
  const list = unigrams === undefined ? {} : { unigrams };
  const use: LanguageModelUse = { path: lm, unit: unit ?? 'character', ...list, ...weights };
  return { decoding: { ...search, lm: use }, problems };
}
