import type { Call } from '../call.ts';
import type { CallLeg } from '../call-leg.ts';
import type { LegEvent } from '../events.ts';
import { field, parseObject, text, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { CallContext } from '../call-context.ts';
import { callId, parametersOf } from '../parameters.ts';
import { RATES_ADVICE, sampleRate } from './sample-rates.ts';

const LABELS = { ki: 'ki-KE', luo: 'luo-KE' } as const;

/**
 * jambonz custom speech: receives `start`, linear audio and `stop`, and sends `transcription` messages. `start` has no
 * call id, so the application passes one in the recognizer's options (`callSid`) or in the address (`?call=`).
 */
export function serveJambonz(socket: ClientSocket, context: CallContext): void {
  let call: Call | null = null;
  let leg: CallLeg | null = null;
  const refuse = (code: string, message: string): void => {
    socket.send({ type: 'error', error: `${code}: ${message}` });
    socket.close(1003, code);
  };
  const start = (told: JsonObject): void => {
    const sampleRateHz = sampleRate(told['sampleRateHz'] ?? 8_000);
    const encoding = text(told, 'encoding') ?? 'LINEAR16';
    if (sampleRateHz === null || encoding.toUpperCase() !== 'LINEAR16') {
      context.refuse('unsupported_audio', RATES_ADVICE);
      return refuse('unsupported_audio', RATES_ADVICE);
    }
    const options = field(told, 'options');
    const ids = [text(options, 'callSid'), text(options, 'call_sid'), text(told, 'callSid')];
    const language = text(told, 'language') ?? null;
    call = context.startCall({
      call: callId('jambonz', ...ids, context.query.get('call')),
      language,
      parameters: parametersOf({ ...Object.fromEntries(context.query), ...options }),
    });
    if (call === null) {
      return refuse('unsupported_language', 'Use ki-KE (Kikuyu) or luo-KE (Dholuo).');
    }
    const wanted = {
      interimResults: told['interimResults'] === true,
      language: language ?? LABELS[call.language],
    };
    leg = call.openLeg({
      leg: 'caller',
      encoding: 'pcm_s16le',
      sampleRateHz,
      onEvent: (event) => tell(socket, event, wanted),
    });
  };
  socket.onText((message) => {
    const told = parseObject(message);
    if (told['type'] === 'start' && call === null) start(told);
    if (told['type'] === 'stop') call?.hangUp();
  });
  socket.onBinary((audio) => leg?.push(audio));
  socket.onClose(() => call?.hangUp());
}

interface Wanted {
  readonly interimResults: boolean;
  readonly language: string;
}

function tell(socket: ClientSocket, event: LegEvent, wanted: Wanted): void {
  const { language } = wanted;
  switch (event.type) {
    case 'interim':
      if (wanted.interimResults)
        socket.send(transcription(event.text, { language, isFinal: false }));
      return;
    case 'final': {
      const { text: transcript, confidence } = event;
      socket.send(transcription(transcript, { language, isFinal: true, confidence }));
      return;
    }
    case 'ended':
      if (event.reason === 'completed') return socket.close(1000, 'completed');
      socket.send({ type: 'error', error: event.reason });
      return socket.close(1011, event.reason);
    case 'started':
    case 'warning':
    case 'dtmf':
      return;
  }
}

/** jambonz compares the confidence with a threshold, so text without one counts as certain. */
function transcription(
  transcript: string,
  {
    language,
    isFinal,
    confidence = null,
  }: {
    language: string;
    isFinal: boolean;
    confidence?: number | null;
  },
): object {
  return {
    type: 'transcription',
    is_final: isFinal,
    language,
    channel: 1,
    alternatives: [{ transcript, confidence: confidence ?? 1 }],
  };
}
