import type { Call } from '../call.ts';
import type { CallLeg } from '../call-leg.ts';
import { field, parseObject, text, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { CallContext } from '../call-context.ts';
import { callId, parametersOf } from '../parameters.ts';

const FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;

/**
 * Twilio Media Streams: JSON messages with base64 mu-law. `<Start><Stream>` with both tracks sends `inbound` (the
 * caller) and `outbound`; each is a leg with its own session.
 */
export function serveTwilio(socket: ClientSocket, context: CallContext): void {
  const legs = new Map<string, CallLeg>();
  let call: Call | null = null;
  const legOf = (track: string): CallLeg | undefined => {
    const known = legs.get(track);
    if (known !== undefined || call === null) return known;
    const leg = call.openLeg({ leg: track, ...FORMAT });
    legs.set(track, leg);
    return leg;
  };
  const start = (frame: JsonObject): void => {
    const told = field(frame, 'start');
    if (!isMulaw(told['mediaFormat'])) {
      context.refuse(
        'unsupported_audio',
        'Twilio must send mu-law at 8000 Hz, which is its default.',
      );
      return socket.close(1003, 'unsupported_audio');
    }
    const parameters = parametersOf(field(told, 'customParameters'));
    call = context.startCall({
      call: callId('twilio', text(told, 'callSid'), text(frame, 'streamSid')),
      language: parameters['language'] ?? null,
      parameters,
    });
    if (call === null) return socket.close(1003, 'unsupported_language');
    const tracks = Array.isArray(told['tracks']) ? told['tracks'] : ['inbound'];
    for (const track of tracks) {
      if (track === 'inbound' || track === 'outbound') legOf(track);
    }
  };
  socket.onText((message) => {
    const frame = parseObject(message);
    switch (frame['event']) {
      case 'start':
        if (call === null) start(frame);
        return;
      case 'media': {
        const media = field(frame, 'media');
        const payload = text(media, 'payload');
        const track = text(media, 'track') === 'outbound' ? 'outbound' : 'inbound';
        const atMs = Number.parseInt(text(media, 'timestamp') ?? '', 10);
        if (payload !== undefined) {
          const audio = Buffer.from(payload, 'base64');
          legOf(track)?.push(audio, Number.isNaN(atMs) ? null : atMs);
        }
        return;
      }
      case 'dtmf': {
        const digit = text(field(frame, 'dtmf'), 'digit');
        if (digit !== undefined) legOf('inbound')?.dtmf(digit);
        return;
      }
      case 'stop':
        call?.hangUp();
        return;
    }
  });
  socket.onClose(() => call?.hangUp());
}

/** Twilio documents one format, and always names it. */
function isMulaw(mediaFormat: unknown): boolean {
  if (mediaFormat === undefined) return true;
  const format = field({ mediaFormat }, 'mediaFormat');
  const { encoding = 'audio/x-mulaw', sampleRate = 8_000, channels = 1 } = format;
  return encoding === 'audio/x-mulaw' && sampleRate === 8_000 && channels === 1;
}
