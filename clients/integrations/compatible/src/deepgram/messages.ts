import { shownWords } from '@svc-asr/protocol/numbers/shown-words.ts';
import type { FinalEvent } from '@svc-asr/sdk/stream';
import type { ModelId } from '@svc-asr/sdk';

/** The messages of Deepgram's `/v1/listen` and `/v2/listen` sockets. Clients drop messages of other types, so there are no others. */

interface ListenWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly confidence: number;
  readonly punctuated_word: string;
}

export interface Results {
  readonly type: 'Results';
  readonly channel_index: readonly [0, 1];
  readonly duration: number;
  readonly start: number;
  readonly is_final: boolean;
  readonly speech_final: boolean;
  readonly from_finalize: boolean;
  readonly channel: { readonly alternatives: readonly [Alternative] };
  readonly metadata: ResultsMetadata;
}

/** Without `languages`: Pipecat rejects the text if it doesn't know the language. */
export interface Alternative {
  readonly transcript: string;
  readonly confidence: number;
  readonly words: readonly ListenWord[];
}

interface ModelInfo {
  readonly name: string;
  readonly version: string;
  readonly arch: string;
}

interface ResultsMetadata {
  readonly request_id: string;
  readonly model_info: ModelInfo;
  readonly model_uuid: string;
}

export interface Metadata {
  readonly type: 'Metadata';
  readonly transaction_key: 'deprecated';
  readonly request_id: string;
  readonly sha256: string;
  readonly created: string;
  readonly duration: number;
  readonly channels: number;
  readonly models: readonly [string];
  readonly model_info: Readonly<Record<string, ModelInfo>>;
}

export type TurnEvent = 'StartOfTurn' | 'Update' | 'EagerEndOfTurn' | 'TurnResumed' | 'EndOfTurn';

/** A message of `/v2/listen`. */
export interface TurnInfo {
  readonly type: 'TurnInfo';
  readonly request_id: string;
  readonly event: TurnEvent;
  readonly turn_index: number;
  readonly audio_window_start: number;
  readonly audio_window_end: number;
  readonly transcript: string;
  readonly words: readonly TurnWord[];
  readonly end_of_turn_confidence: number;
  /** What ended the turn. */
  readonly trigger?: 'model' | 'manual' | 'timeout';
}

/** Only words of finals and of eager ends of turn have times. */
export interface TurnWord {
  readonly word: string;
  readonly confidence: number;
  readonly start?: number;
  readonly end?: number;
}

export type ListenMessage =
  | Results
  | Metadata
  | TurnInfo
  | { readonly type: 'Connected'; readonly request_id: string }
  | {
      readonly type: 'SpeechStarted';
      readonly channel: readonly [0, 1];
      readonly timestamp: number;
    }
  | {
      readonly type: 'UtteranceEnd';
      readonly channel: readonly [0, 1];
      readonly last_word_end: number;
    }
  | {
      readonly type: 'ConfigureSuccess' | 'ConfigureFailure';
      readonly request_id: string;
      /** The keyterms in force, as the models spell them. */
      readonly keyterms?: readonly string[];
      /** Those in force, on `/v2/listen`. */
      readonly thresholds?: Thresholds;
      readonly code?: string;
      /** The name that clients of `/v2/listen` read. */
      readonly error_code?: string;
      readonly description?: string;
    }
  | {
      readonly type: 'Error';
      readonly variant: string;
      /** The name that clients of `/v2/listen` read. */
      readonly code: string;
      readonly description: string;
      readonly message: string;
    };

/** When a turn of `/v2/listen` ends, as the client asked for it. */
export interface Thresholds {
  readonly eot_threshold: number;
  readonly eager_eot_threshold?: number;
  readonly eot_timeout_ms: number;
}

/** Deepgram gives each model a UUID. These are ours. */
const MODEL_UUIDS: Readonly<Record<ModelId, string>> = {
  'svc-asr-kikuyu-v1': '5a4c1f0e-6f0b-4b57-9f6e-0d1c7e2b9a01',
  'svc-asr-dholuo-v1': '5a4c1f0e-6f0b-4b57-9f6e-0d1c7e2b9a02',
};

export interface Request {
  readonly requestId: string;
  readonly model: ModelId;
}

export function resultsMetadata({ requestId, model }: Request): ResultsMetadata {
  return {
    request_id: requestId,
    model_info: modelInfo(model),
    model_uuid: MODEL_UUIDS[model],
  };
}

export interface ReceivedAudio {
  readonly sha256: string;
  readonly created: string;
  readonly durationMs: number;
}

export function metadata({ requestId, model }: Request, audio: ReceivedAudio): Metadata {
  const uuid = MODEL_UUIDS[model];
  return {
    type: 'Metadata',
    transaction_key: 'deprecated',
    request_id: requestId,
    sha256: audio.sha256,
    created: audio.created,
    duration: seconds(audio.durationMs),
    channels: 1,
    models: [uuid],
    model_info: { [uuid]: modelInfo(model) },
  };
}

function modelInfo(model: ModelId): ModelInfo {
  return { name: model, version: 'v1', arch: 'svc-asr' };
}

/**
 * The text of an interim result, or of a final. Numbers are digits in `transcript` and `punctuated_word` if the final has them.
 * Text without a known confidence counts as certain, because agents drop text below a threshold.
 */
export function alternative(text: string, final: FinalEvent | null): Alternative {
  return {
    transcript: final?.text_formatted ?? text,
    confidence: text === '' ? 0 : (final?.confidence ?? 1),
    words: final === null ? [] : wordsOf(final),
  };
}

export function wordsOf({ words, entities }: Pick<FinalEvent, 'words' | 'entities'>): ListenWord[] {
  return shownWords({ words, entities }).map((shown) => {
    // The times of words may have been moved, those of entities were not.
    const said = 'kind' in shown ? words.slice(shown.first_word, shown.end_word) : [shown];
    return {
      word: said.map(({ text }) => text).join(' '),
      start: seconds(said[0]?.start_ms ?? 0),
      end: seconds(said.at(-1)?.end_ms ?? 0),
      confidence: shown.confidence ?? 1,
      punctuated_word: shown.text,
    };
  });
}

export function seconds(ms: number): number {
  return Math.round(ms) / 1000;
}
