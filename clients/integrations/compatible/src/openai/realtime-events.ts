import type { Language } from '@svc-asr/protocol/languages.ts';
import { openAiError, type Refusal } from '../refusal.ts';

/** What happens to an item, before it is written in one of OpenAI's two shapes. */
export type ItemEvent =
  | {
      readonly type: 'speech_started' | 'speech_stopped';
      readonly itemId: string;
      readonly audioMs: number;
    }
  | { readonly type: 'committed'; readonly itemId: string; readonly previousId: string | null }
  | { readonly type: 'delta'; readonly itemId: string; readonly delta: string }
  | {
      readonly type: 'completed';
      readonly itemId: string;
      readonly transcript: string;
      readonly audioMs: number;
    }
  | {
      readonly type: 'failed';
      readonly itemId: string;
      readonly code: string;
      readonly message: string;
    };

export interface RealtimeError {
  readonly type: string;
  readonly code: string;
  readonly svc_code?: string;
  readonly message: string;
  readonly param?: string | null;
  /** The client's message that caused it. */
  readonly eventId?: string | null;
}

/** GA clients say `session.*`. Beta clients say `transcription_session.*` and read `conversation.item.created`. */
export type Shape = 'ga' | 'beta';

type Body = { readonly type: string } & Readonly<Record<string, unknown>>;

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

export function itemEvents(
  event: ItemEvent,
  { shape, language }: { readonly shape: Shape; readonly language: Language | null },
): Body[] {
  const item_id = event.itemId;
  switch (event.type) {
    case 'speech_started':
      return [
        { type: 'input_audio_buffer.speech_started', item_id, audio_start_ms: event.audioMs },
      ];
    case 'speech_stopped':
      return [{ type: 'input_audio_buffer.speech_stopped', item_id, audio_end_ms: event.audioMs }];
    case 'committed': {
      const previous_item_id = event.previousId;
      const added = { previous_item_id, item: userItem(item_id) };
      return [
        { type: 'input_audio_buffer.committed', item_id, previous_item_id },
        ...(shape === 'beta'
          ? [{ type: 'conversation.item.created', ...added }]
          : [
              { type: 'conversation.item.added', ...added },
              { type: 'conversation.item.done', ...added },
            ]),
      ];
    }
    case 'delta':
      return [{ type: `${TRANSCRIPTION}.delta`, item_id, content_index: 0, delta: event.delta }];
    case 'completed':
      return [
        {
          type: `${TRANSCRIPTION}.completed`,
          item_id,
          content_index: 0,
          transcript: event.transcript,
          ...(language === null ? {} : { languages: [{ code: language }] }),
          usage: { type: 'duration', seconds: event.audioMs / 1000 },
        },
      ];
    case 'failed': {
      const { code, message } = event;
      const error = { type: 'transcription_error', code, message };
      return [{ type: `${TRANSCRIPTION}.failed`, item_id, content_index: 0, error }];
    }
  }
}

function userItem(id: string): object {
  return {
    id,
    object: 'realtime.item',
    type: 'message',
    status: 'completed',
    role: 'user',
    content: [{ type: 'input_audio', transcript: null }],
  };
}

export function errorEvent(error: RealtimeError): Body {
  const { param = null, eventId = null, ...rest } = error;
  return { type: 'error', error: { ...rest, param, event_id: eventId } };
}

export function refusalEvent(refusal: Refusal): Body {
  const { message, param } = refusal;
  return errorEvent({ ...openAiError(refusal), message, param });
}

/** 1013 if it helps to try again. */
export function closeCode({ retryAfterMs }: Refusal): number {
  return retryAfterMs === null ? 1008 : 1013;
}
