import type { CallEvent, CallLeg } from './call-leg.ts';
import { field, parseObject, text } from './json.ts';
import type { CallContext, MediaSocket } from './media-socket.ts';

const LANGUAGES: Readonly<Record<string, string>> = { ki: 'ki-KE', luo: 'luo-KE' };

const RATES = new Set([8_000, 16_000, 24_000, 32_000, 48_000]);

/** jambonz custom speech: receives `start`, linear audio and `stop`, and sends `transcription` messages. */
export function serveJambonz(socket: MediaSocket, context: CallContext): void {
  let leg: CallLeg | null = null;
  let interimResults = false;
  socket.onText((message) => {
    const told = parseObject(message);
    if (told['type'] === 'start' && leg === null) {
      const sampleRateHz: unknown = told['sampleRateHz'] ?? 8_000;
      if (typeof sampleRateHz !== 'number' || !RATES.has(sampleRateHz)) {
        socket.send({ type: 'error', error: 'unsupported_audio' });
        socket.close(1003, 'unsupported_audio');
        return;
      }
      interimResults = told['interimResults'] === true;
      const language = text(told, 'language') ?? LANGUAGES['ki'];
      leg = context.openLeg({
        call: text(field(told, 'options'), 'callSid') ?? text(told, 'callSid') ?? 'unknown',
        leg: 'caller',
        protocol: 'jambonz',
        encoding: 'pcm_s16le',
        sampleRateHz,
        onEvent: (event) => tell(event, language ?? ''),
      });
    }
    if (told['type'] === 'stop') leg?.hangUp();
  });
  socket.onAudio((audio) => leg?.push(audio));
  socket.onClose(() => leg?.hangUp());

  function tell(event: CallEvent, language: string): void {
    switch (event.type) {
      case 'interim':
        if (interimResults) socket.send(transcription(event.text, false, language, null));
        return;
      case 'final':
        socket.send(transcription(event.text, true, language, event.confidence));
        return;
      case 'ended':
        if (event.reason === 'completed') socket.close(1000, 'completed');
        else socket.send({ type: 'error', error: event.reason });
        return;
      case 'started':
      case 'dtmf':
        return;
    }
  }
}

/** jambonz compares the confidence with a threshold, so text without one counts as certain. */
function transcription(
  transcript: string,
  isFinal: boolean,
  language: string,
  confidence: number | null,
): object {
  return {
    type: 'transcription',
    is_final: isFinal,
    language,
    channel: 1,
    alternatives: [{ transcript, confidence: confidence ?? 1 }],
  };
}
