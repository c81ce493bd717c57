import type { CallEvent, CallLeg } from './call-leg.ts';
import { field, parseObject, text, whole } from './json.ts';
import type { CallContext, MediaSocket } from './media-socket.ts';

const LANGUAGES: Readonly<Record<string, string>> = { ki: 'ki-KE', luo: 'luo-KE' };

/** jambonz custom speech: receives `start`, linear audio and `stop`, and sends `transcription` messages. */
export function serveJambonz(socket: MediaSocket, context: CallContext): void {
  let leg: CallLeg | null = null;
  let interimResults = false;
  socket.onText((message) => {
    const told = parseObject(message);
    if (told['type'] === 'start' && leg === null) {
      interimResults = told['interimResults'] === true;
      const language = text(told, 'language') ?? LANGUAGES['ki'];
      leg = context.openLeg({
        call: text(field(told, 'options'), 'callSid') ?? text(told, 'callSid') ?? 'unknown',
        leg: 'caller',
        protocol: 'jambonz',
        encoding: 'pcm_s16le',
        sampleRateHz: whole(told, 'sampleRateHz') ?? 8_000,
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
