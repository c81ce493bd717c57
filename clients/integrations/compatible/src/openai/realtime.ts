import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { Door, DoorContext, Handshake } from '../door.ts';
import { chooseModel } from '../languages.ts';
import { billedMsOf } from '../transcribe.ts';
import type { Refusal } from '../refusal.ts';
import { closeCode, refusalEvent } from './realtime-events.ts';
import { RealtimeInbox } from './realtime-inbox.ts';
import { RealtimeSession } from './realtime-session.ts';

const FIRST_MESSAGE_MS_MAX = 500;
const READ_ERROR_MS = 500;
const QUERY: ReadonlySet<string> = new Set(['model', 'intent']);

/**
 * OpenAI's Realtime API for transcription sessions. Every connection is accepted and refused with an `error` event, because
 * clients show its text and hide that of a refused handshake.
 */
export const realtime: Door = {
  name: 'realtime',
  api: 'openai',
  paths: ['/v1/realtime'],
  connect,
  refuseSocket: refuse,
};

/** Some clients don't listen before they have sent their first message. */
function refuse(socket: ClientSocket, refusal: Refusal): void {
  let isTold = false;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    clearTimeout(timer);
    socket.send({ event_id: 'event_1', ...refusalEvent(refusal) });
    closeSoon(socket, closeCode(refusal), refusal.code);
  };
  const timer = setTimeout(tell, FIRST_MESSAGE_MS_MAX);
  socket.onText(tell);
}

/** A client that is sending would see that the connection is closed instead of the error before it. */
function closeSoon(socket: ClientSocket, code: number, reason: string): void {
  const timer = setTimeout(() => socket.close(code, reason), READ_ERROR_MS);
  void socket.closed.then(() => clearTimeout(timer));
}

async function connect(handshake: Handshake, { config, metrics }: DoorContext): Promise<void> {
  const { request, query, prefix, caller, signal } = handshake;
  for (const name of query.keys()) if (!QUERY.has(name)) handshake.ignore(name);
  const socket = await handshake.accept();
  const session = new RealtimeSession(
    {
      send: (message) => socket.send(message),
      close: (code, reason) => closeSoon(socket, code, reason),
      choose: ({ model, languages }) =>
        chooseModel({ model, languages, prefix }, config.defaultLanguage),
      openStream: ({ model }, { silenceMs }) =>
        caller.openStream({
          model,
          signal,
          endpointing: silenceMs === null ? false : { silenceMs },
        }),
      onStreamEnded(stream, receivedMs) {
        const billedMs = billedMsOf(stream.transcript.sessions) ?? 0;
        metrics.count('svc_compatible_billed_seconds_total', { door: 'realtime' }, billedMs / 1000);
        metrics.count(
          'svc_compatible_audio_seconds_total',
          { door: 'realtime' },
          receivedMs / 1000,
        );
      },
    },
    {
      model: query.get('model'),
      shape: request.headers['openai-beta'] === 'realtime=v1' ? 'beta' : 'ga',
    },
  );
  // A connection without a message for this long has lost its client.
  socket.onSilence(config.limits.realtimeIdleMs, () => socket.close(1000, 'idle'));
  const inbox = new RealtimeInbox(socket, (frame) => session.onText(frame));
  socket.onText((frame) => {
    if (!inbox.push(frame)) socket.close(1008, 'too_many_messages');
  });
  socket.onBinary(() => socket.close(1003, 'send_audio_as_base64'));
  socket.onTooLarge(() => session.onTooLarge());
  session.start();
  await socket.closed;
  await session.close();
}
