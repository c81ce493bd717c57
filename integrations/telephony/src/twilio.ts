import type { CallContext, MediaSocket } from './media-socket.ts';
import type { CallLeg } from './call-leg.ts';
import { field, parseObject, text } from './json.ts';

/**
 * Twilio Media Streams: JSON messages with base64 mu-law. `<Start><Stream>` with both tracks sends `inbound` (the
 * caller) and `outbound`; each is a leg with its own session.
 */
export function serveTwilio(socket: MediaSocket, context: CallContext): void {
  const legs = new Map<string, CallLeg>();
  let call = '';
  const legOf = (track: string): CallLeg => {
    const known = legs.get(track);
    if (known !== undefined) return known;
    const format = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
    const leg = context.openLeg({ call, leg: track, protocol: 'twilio', ...format });
    legs.set(track, leg);
    return leg;
  };
  const hangUp = (): void => {
    for (const leg of legs.values()) leg.hangUp();
  };
  socket.onText((message) => {
    const frame = parseObject(message);
    switch (frame['event']) {
      case 'start': {
        const start = field(frame, 'start');
        call = text(start, 'callSid') ?? text(frame, 'streamSid') ?? 'unknown';
        const tracks = Array.isArray(start['tracks']) ? start['tracks'] : ['inbound'];
        for (const track of tracks) {
          if (track === 'inbound' || track === 'outbound') legOf(track);
        }
        return;
      }
      case 'media': {
        const media = field(frame, 'media');
        const payload = text(media, 'payload');
        const track = text(media, 'track') === 'outbound' ? 'outbound' : 'inbound';
        if (call !== '' && payload !== undefined) {
          legOf(track).push(Buffer.from(payload, 'base64'));
        }
        return;
      }
      case 'dtmf': {
        const digit = text(field(frame, 'dtmf'), 'digit');
        if (call !== '' && digit !== undefined) legOf('inbound').dtmf(digit);
        return;
      }
      case 'stop':
        hangUp();
        return;
    }
  });
  socket.onClose(hangUp);
}
