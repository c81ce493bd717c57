import { parseObject } from '@svc-asr/protocol/json-object.ts';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { CallContext, JoinedCall } from '../call-context.ts';
import type { CallLeg } from '../call-leg.ts';
import { callId, legName, parametersOf } from '../parameters.ts';

/** The formats of chan_websocket that hold samples. */
const FORMATS = {
  ulaw: { encoding: 'mulaw', sampleRateHz: 8_000 },
  alaw: { encoding: 'alaw', sampleRateHz: 8_000 },
  slin: { encoding: 'pcm_s16le', sampleRateHz: 8_000 },
  slin16: { encoding: 'pcm_s16le', sampleRateHz: 16_000 },
  slin24: { encoding: 'pcm_s16le', sampleRateHz: 24_000 },
  slin32: { encoding: 'pcm_s16le', sampleRateHz: 32_000 },
  slin48: { encoding: 'pcm_s16le', sampleRateHz: 48_000 },
} as const;

/**
 * Asterisk's chan_websocket: `MEDIA_START`, audio, and `DTMF_END`, as plain text or JSON. One connection is one leg; the
 * address has `?call=`, `leg=` and `language=`. Asterisk takes text as commands, so the bridge sends none.
 */
export function serveAsterisk(socket: ClientSocket, context: CallContext): void {
  let joined: JoinedCall | null = null;
  let leg: CallLeg | null = null;
  const start = (message: Readonly<Record<string, string>>): void => {
    const { query } = context;
    const format = message['format'] ?? '';
    if (!isFormat(format)) {
      const formats = Object.keys(FORMATS).join(', ');
      context.refuse('unsupported_audio', `Asterisk must send one of ${formats}, as in c(slin16).`);
      return socket.close(1003, 'unsupported_audio');
    }
    joined = context.joinCall({
      call: callId('asterisk', query.get('call'), message['channel_id']),
      language: query.get('language'),
      parameters: parametersOf(Object.fromEntries(query)),
    });
    if (joined === null) return socket.close(1003, 'unsupported_language');
    const { call, language } = joined;
    leg = call.openLeg({ leg: legName(query.get('leg')), language, ...FORMATS[format] });
  };
  socket.onText((text) => {
    const message = readMessage(text);
    if (message['event'] === 'MEDIA_START' && joined === null) start(message);
    if (message['event'] === 'DTMF_END') leg?.dtmf(message['digit'] ?? '');
  });
  socket.onBinary((audio) => leg?.push(audio));
  socket.onClose(() => {
    leg?.hangUp();
    joined?.leave();
  });
}

function isFormat(name: string): name is keyof typeof FORMATS {
  return Object.hasOwn(FORMATS, name);
}

/** `MEDIA_START format:slin16 channel_id:1763290000.1`, or the same as a JSON object with `event`. */
function readMessage(text: string): Readonly<Record<string, string>> {
  if (text.startsWith('{')) return parametersOf(parseObject(text));
  const [event = '', ...fields] = text.split(' ');
  const pairs = fields.map((field) => {
    const colon = field.indexOf(':');
    return [field.slice(0, colon), field.slice(colon + 1)] as const;
  });
  return { ...Object.fromEntries(pairs), event };
}
