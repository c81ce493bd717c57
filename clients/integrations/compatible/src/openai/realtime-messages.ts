import { field, parseObject, text, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { RealtimeError, Shape } from './realtime-events.ts';

/** What a client asks for. */
export type RealtimeMessage =
  | {
      readonly do: 'update';
      readonly session: JsonObject;
      readonly shape: Shape;
      readonly eventId: string | null;
    }
  | { readonly do: 'append'; readonly audio: Uint8Array }
  | { readonly do: 'commit' }
  | { readonly do: 'clear' }
  | { readonly do: 'refuse'; readonly error: RealtimeError };

const SUPPORTED =
  'session.update, input_audio_buffer.append, input_audio_buffer.commit and input_audio_buffer.clear';
const EVENT_ID_MAX = 512;

export function parseMessage(frame: string): RealtimeMessage {
  const message = parseObject(frame);
  const given = text(message, 'event_id') ?? null;
  const eventId = given !== null && given.length <= EVENT_ID_MAX ? given : null;
  const type = text(message, 'type');
  switch (type) {
    case 'session.update':
      return { do: 'update', session: field(message, 'session'), shape: 'ga', eventId };
    case 'transcription_session.update':
      return { do: 'update', session: field(message, 'session'), shape: 'beta', eventId };
    case 'input_audio_buffer.append': {
      const audio = decodeBase64(text(message, 'audio'));
      if (audio !== null) return { do: 'append', audio };
      return refuse(
        'audio',
        'The audio is not valid base64. Encode the bytes with padding.',
        eventId,
      );
    }
    case 'input_audio_buffer.commit':
      return { do: 'commit' };
    case 'input_audio_buffer.clear':
      return { do: 'clear' };
    case undefined:
      return refuse('type', 'Send a JSON object with a type.', eventId);
    default:
      return refuse(
        'type',
        `This service only transcribes. It takes ${SUPPORTED}, and no other event.`,
        eventId,
      );
  }
}

/** Node ignores characters that are not base64, so the length is compared. */
function decodeBase64(encoded: string | undefined): Uint8Array | null {
  if (encoded === undefined || encoded.length % 4 !== 0) return null;
  const padding = encoded.endsWith('==') ? 2 : encoded.endsWith('=') ? 1 : 0;
  const bytes = Buffer.from(encoded, 'base64');
  return bytes.byteLength === (encoded.length / 4) * 3 - padding ? bytes : null;
}

function refuse(param: string, message: string, eventId: string | null): RealtimeMessage {
  return {
    do: 'refuse',
    error: { type: 'invalid_request_error', code: 'invalid_value', message, param, eventId },
  };
}
