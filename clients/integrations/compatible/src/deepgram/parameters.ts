import { KEYTERMS } from '@svc-asr/protocol/keyterms.ts';
import type { SampleEncoding } from '@svc-asr/sdk/audio';
import { rawEncoding } from '../audio/raw.ts';
import { badRequest, type Refusal } from '../refusal.ts';
import { TURN_SILENCE_MS } from '../transcribe.ts';

/** Reads the query of `/v1/listen`, and what `/v2/listen` has in common with it. */

/** Raw samples, or a container whose first bytes say what it is. */
export type ListenAudio =
  | {
      readonly encoding: SampleEncoding;
      readonly sampleRateHz: number;
      readonly channels: number;
    }
  | 'container';

export interface CommonOptions {
  readonly audio: ListenAudio;
  /** Names and words to listen for. */
  readonly keyterms: readonly string[];
  /** Whether numbers are digits. */
  readonly numbers: boolean;
  /** Parameters that have no effect here. A response header names them. */
  readonly ignored: readonly string[];
}

export interface ListenOptions extends CommonOptions {
  readonly interimResults: boolean;
  readonly vadEvents: boolean;
  /** How much silence ends an utterance. */
  readonly silenceMs: number;
  /** False with `endpointing=false`: utterances still end, but `speech_final` is never set. */
  readonly speechFinal: boolean;
  /** Null: no UtteranceEnd. */
  readonly utteranceEndMs: number | null;
  /** A file's response lists its utterances. */
  readonly utterances: boolean;
}

const SILENCE_MS = { least: 200, most: 5_000, default: TURN_SILENCE_MS } as const;
const UTTERANCE_END_MS_MAX = 60_000;
const CHANNELS_MAX = 8;
/** The filter for a rate that shares no large factor with 16,000 takes seconds of processor time. */
const RATE = { least: 8_000, most: 48_000, multipleOf: 25 } as const;
const TELEPHONE_HZ = 8_000;
const NAMES_MAX = 20;

const CONTAINER_ENCODINGS: ReadonlySet<string> = new Set(['opus', 'ogg-opus', 'webm', 'flac']);

/** Parameters that both doors read. `model` and `language` are read with those of the other doors. */
const READ_ALWAYS: ReadonlySet<string> = new Set([
  'model',
  'language',
  'encoding',
  'sample_rate',
  'channels',
  'keyterm',
  'numerals',
  'smart_format',
]);
const READ: ReadonlySet<string> = new Set([
  'interim_results',
  'vad_events',
  'endpointing',
  'utterance_end_ms',
  'utterances',
]);

/** What to do instead of each feature that the service doesn't have. */
const REFUSED: Readonly<Record<string, string>> = {
  diarize: 'Send each speaker in a stream of its own.',
  diarize_model: 'Send each speaker in a stream of its own.',
  multichannel: 'Send each channel in a stream of its own.',
  redact: 'Redact the transcript in your own program.',
  replace: 'Replace words in your own program.',
  search: 'Search the transcript in your own program.',
  callback: 'Read the transcript from the response.',
  detect_language: 'Name the language: ki (Kikuyu) or luo (Dholuo).',
  detect_entities: 'Find entities in your own program.',
  summarize: 'Summarise the transcript in your own program.',
  topics: 'Find topics in your own program.',
  intents: 'Find intents in your own program.',
  sentiment: 'Analyse the transcript in your own program.',
  translate: 'Translate the transcript in your own program.',
};

const OFF: ReadonlySet<string> = new Set(['', '0', 'false', 'none', 'null']);

export function readListenOptions(query: URLSearchParams): ListenOptions {
  const { ignored, ...common } = readCommon(query, READ);
  const endpointing = readEndpointing(query.get('endpointing'));
  return {
    ...common,
    silenceMs: endpointing.silenceMs,
    speechFinal: endpointing.speechFinal,
    utteranceEndMs: readUtteranceEnd(query.get('utterance_end_ms')),
    interimResults: isOn(query, 'interim_results'),
    vadEvents: isOn(query, 'vad_events'),
    utterances: isOn(query, 'utterances'),
    ignored: endpointing.isClamped ? [...ignored, 'endpointing'] : ignored,
  };
}

/** `read`: the parameters that only this door reads. */
export function readCommon(query: URLSearchParams, read: ReadonlySet<string>): CommonOptions {
  for (const [name, instead] of Object.entries(REFUSED)) {
    if (isOn(query, name)) {
      throw badRequest('unsupported_parameter', `${name} is not supported. ${instead}`, name);
    }
  }
  const { keyterms, ignored } = readKeyterms(query, read);
  const numbers = isOn(query, 'numerals') || isOn(query, 'smart_format');
  return { audio: readAudio(query), keyterms, numbers, ignored };
}

function readAudio(query: URLSearchParams): ListenAudio {
  const name = (query.get('encoding') ?? '').toLowerCase();
  if (name === '' || CONTAINER_ENCODINGS.has(name)) return 'container';
  const encoding = rawEncoding(name);
  if (encoding === null) {
    const formats = 'Use linear16, mulaw or alaw, or send OGG or WebM without encoding.';
    throw invalid('encoding', `This encoding is not supported. ${formats}`);
  }
  const channels = wholeNumber(query.get('channels') ?? '1');
  if (channels === null || channels < 1 || channels > CHANNELS_MAX) {
    throw invalid('channels', `channels must be a whole number from 1 to ${CHANNELS_MAX}.`);
  }
  return { encoding, channels, sampleRateHz: readRate(query.get('sample_rate'), encoding) };
}

function readRate(given: string | null, encoding: SampleEncoding): number {
  if (given === null && encoding !== 'pcm_s16le') return TELEPHONE_HZ;
  if (given === null) throw invalid('sample_rate', 'Add sample_rate, such as sample_rate=16000.');
  const rate = wholeNumber(given);
  const isSupported =
    rate !== null && rate >= RATE.least && rate <= RATE.most && rate % RATE.multipleOf === 0;
  if (isSupported) return rate;
  throw invalid(
    'sample_rate',
    `sample_rate must be a multiple of ${RATE.multipleOf} from ${RATE.least} to ${RATE.most}.`,
  );
}

interface ReadEndpointing extends Pick<ListenOptions, 'silenceMs' | 'speechFinal'> {
  /** The service takes no such value, so the nearest is used and the parameter is named as ignored. */
  readonly isClamped: boolean;
}

function readEndpointing(given: string | null): ReadEndpointing {
  const value = given?.toLowerCase() ?? 'true';
  const byDefault = { silenceMs: SILENCE_MS.default, isClamped: false };
  if (value === 'true') return { ...byDefault, speechFinal: true };
  if (OFF.has(value)) return { ...byDefault, speechFinal: false };
  const ms = wholeNumber(value);
  if (ms === null) {
    throw invalid('endpointing', 'endpointing must be false or a whole number of milliseconds.');
  }
  const silenceMs = Math.min(SILENCE_MS.most, Math.max(SILENCE_MS.least, ms));
  return { silenceMs, speechFinal: true, isClamped: silenceMs !== ms };
}

function readUtteranceEnd(given: string | null): number | null {
  if (given === null || OFF.has(given.toLowerCase())) return null;
  const ms = wholeNumber(given);
  if (ms !== null && ms <= UTTERANCE_END_MS_MAX) return ms;
  throw invalid(
    'utterance_end_ms',
    `utterance_end_ms must be a whole number from 1 to ${UTTERANCE_END_MS_MAX}.`,
  );
}

export function invalid(name: string, message: string): Refusal {
  return badRequest('invalid_parameter', message, name);
}

/** Null for anything but digits. */
function wholeNumber(text: string): number | null {
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

/**
 * `keyterm=TERM`, and `keywords=WORD:INTENSITY` of older models. The service has one boost for all, so intensities have no
 * effect, and words with a negative one, which Deepgram suppresses, are left out. `keywords` is then among the ignored names.
 */
function readKeyterms(
  query: URLSearchParams,
  read: ReadonlySet<string>,
): Pick<CommonOptions, 'keyterms' | 'ignored'> {
  const given = query.getAll('keywords').map((value) => /^(.*?)(?::([^:]*))?$/su.exec(value));
  const keywords = given.flatMap((match) => {
    const [, word = '', intensity = '1'] = match ?? [];
    return Number(intensity) < 0 ? [] : [word];
  });
  const hasIntensity = given.some((match) => match?.[2] !== undefined);
  const ignored = ignoredNames(query, read).filter((name) => name !== 'keywords' || hasIntensity);
  const terms = [...query.getAll('keyterm'), ...keywords].filter((term) => term.trim() !== '');
  // One more than the service takes, so that it refuses the rest itself.
  return { keyterms: terms.slice(0, KEYTERMS.termsMax + 1), ignored };
}

/** Names come from the caller, so only plain ones are repeated, and not many. */
function ignoredNames(query: URLSearchParams, read: ReadonlySet<string>): string[] {
  const names = new Set<string>();
  for (const [name, value] of query) {
    if (READ_ALWAYS.has(name) || read.has(name)) continue;
    if (OFF.has(value.toLowerCase()) || !/^[\w-]{1,40}$/.test(name)) continue;
    if (names.size < NAMES_MAX) names.add(name);
  }
  return [...names];
}

function isOn(query: URLSearchParams, name: string): boolean {
  return query.getAll(name).some((value) => !OFF.has(value.toLowerCase()));
}
