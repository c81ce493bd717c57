import type { SampleEncoding } from '@svc-asr/sdk/audio';
import { field, text, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { RealtimeError, Shape } from './realtime-events.ts';

export interface RealtimeSettings {
  /** As the client names it. Null: not named yet. */
  readonly model: string | null;
  readonly languages: readonly string[];
  readonly encoding: SampleEncoding;
  readonly sampleRateHz: number;
  /** How much silence ends a turn. Null: only commits do. */
  readonly silenceMs: number | null;
}

const SILENCE_MS = { default: 500, least: 200, most: 5_000 } as const;
/** Models without turn detection at OpenAI: their clients leave the setting out and commit. */
const COMMIT_ONLY = ['gpt-realtime-whisper', 'gpt-live-transcribe'];
const RATES: ReadonlySet<unknown> = new Set([8_000, 16_000, 24_000, 48_000]);
const FORMATS: Readonly<Record<string, { encoding: SampleEncoding; sampleRateHz: number }>> = {
  'audio/pcm': { encoding: 'pcm_s16le', sampleRateHz: 24_000 },
  'audio/pcmu': { encoding: 'mulaw', sampleRateHz: 8_000 },
  'audio/pcma': { encoding: 'alaw', sampleRateHz: 8_000 },
  pcm16: { encoding: 'pcm_s16le', sampleRateHz: 24_000 },
  g711_ulaw: { encoding: 'mulaw', sampleRateHz: 8_000 },
  g711_alaw: { encoding: 'alaw', sampleRateHz: 8_000 },
};

export const FIRST_SETTINGS: RealtimeSettings = {
  model: null,
  languages: [],
  encoding: 'pcm_s16le',
  sampleRateHz: 24_000,
  silenceMs: SILENCE_MS.default,
};

/** Applies `session.update` (GA) or `transcription_session.update` (beta). What it leaves out stays as it was. */
export function updateSettings(
  settings: RealtimeSettings,
  session: JsonObject,
  shape: Shape,
): RealtimeSettings | RealtimeError {
  const type = session['type'];
  if (shape === 'ga' && type !== undefined && type !== 'transcription') {
    return invalid(
      'session.type',
      'Only transcription sessions are supported. Send "transcription".',
    );
  }
  const input = shape === 'ga' ? field(field(session, 'audio'), 'input') : betaInput(session);
  const transcription = field(input, 'transcription');
  const model = text(transcription, 'model') ?? settings.model;
  const format = readFormat(input['format'], settings);
  if (format === null) {
    return invalid(
      'session.audio.input.format',
      'Send 16-bit audio/pcm at 24000 Hz (also 8000, 16000 or 48000), audio/pcmu or audio/pcma.',
    );
  }
  return {
    ...format,
    model,
    languages: readLanguages(transcription) ?? settings.languages,
    silenceMs: readSilence(input, model, settings.silenceMs),
  };
}

/** The beta session in the names of the GA session. */
function betaInput(session: JsonObject): JsonObject {
  const names = {
    format: 'input_audio_format',
    transcription: 'input_audio_transcription',
    turn_detection: 'turn_detection',
  };
  return Object.fromEntries(
    Object.entries(names).flatMap(([ga, beta]) =>
      beta in session ? [[ga, session[beta]] as const] : [],
    ),
  );
}

function readFormat(
  given: unknown,
  { encoding, sampleRateHz }: RealtimeSettings,
): { encoding: SampleEncoding; sampleRateHz: number } | null {
  if (given === undefined) return { encoding, sampleRateHz };
  if (typeof given === 'string') return FORMATS[given] ?? null;
  const { type = 'audio/pcm', rate } = field({ given }, 'given');
  const format = typeof type === 'string' ? FORMATS[type] : undefined;
  if (format === undefined) return null;
  if (rate === undefined || rate === format.sampleRateHz) return format;
  if (format.encoding !== 'pcm_s16le' || !RATES.has(rate)) return null;
  return { ...format, sampleRateHz: Number(rate) };
}

function readLanguages(transcription: JsonObject): readonly string[] | null {
  const { language, languages } = transcription;
  const given = Array.isArray(languages) ? languages : language === undefined ? null : [language];
  return given?.filter((each) => typeof each === 'string') ?? null;
}

/** `turn_detection: null` turns it off. */
function readSilence(
  input: JsonObject,
  model: string | null,
  before: number | null,
): number | null {
  const given = input['turn_detection'];
  if (given === null) return null;
  if (given === undefined) {
    return COMMIT_ONLY.some((name) => model?.startsWith(name)) ? null : before;
  }
  const { silence_duration_ms: silence } = field(input, 'turn_detection');
  const ms = typeof silence === 'number' && Number.isFinite(silence) ? silence : SILENCE_MS.default;
  return Math.round(Math.min(SILENCE_MS.most, Math.max(SILENCE_MS.least, ms)));
}

function invalid(param: string, message: string): RealtimeError {
  return { type: 'invalid_request_error', code: 'invalid_value', message, param };
}

/** The session as clients read it back. */
export function presentSession(
  settings: RealtimeSettings,
  { id, shape }: { readonly id: string; readonly shape: Shape },
): object {
  const { model, languages, silenceMs } = settings;
  const transcription = {
    ...(model === null ? {} : { model }),
    ...(languages[0] === undefined ? {} : { language: languages[0] }),
  };
  const turn_detection =
    silenceMs === null ? null : { type: 'server_vad', silence_duration_ms: silenceMs };
  if (shape === 'beta') {
    return {
      id,
      object: 'realtime.transcription_session',
      input_audio_format: formatName(settings, 'beta'),
      input_audio_transcription: transcription,
      turn_detection,
    };
  }
  const type = formatName(settings, 'ga');
  const format = type === 'audio/pcm' ? { type, rate: settings.sampleRateHz } : { type };
  return {
    id,
    object: 'realtime.transcription_session',
    type: 'transcription',
    audio: { input: { format, transcription, turn_detection } },
  };
}

function formatName({ encoding }: RealtimeSettings, shape: Shape): string {
  const names = { pcm_s16le: ['audio/pcm', 'pcm16'], mulaw: ['audio/pcmu', 'g711_ulaw'] } as const;
  const [ga, beta] =
    encoding === 'pcm_s16le' || encoding === 'mulaw'
      ? names[encoding]
      : (['audio/pcma', 'g711_alaw'] as const);
  return shape === 'ga' ? ga : beta;
}
