import type { Door, DoorContext, Handshake } from '../door.ts';
import { billedMsOf } from '../transcribe.ts';
import { withFileSlot } from '../with-file-slot.ts';
import { transcribeBody } from './listen-body.ts';
import { openInput } from './listen-input.ts';
import { readRequest } from './listen-request.ts';
import { ListenSocket, refuseListenSocket } from './listen-socket.ts';
import { ListenStream } from './listen-stream.ts';

/** What is left of `token, KEY` after the key was taken. */
const SCHEME = /^(?:token|bearer)$/;

/** Deepgram's `/v1/listen`: a WebSocket for live audio, a POST for a file. */
export const listenDoor: Door = {
  name: 'listen',
  api: 'deepgram',
  paths: ['/v1/listen'],
  handle: { POST: withFileSlot(transcribeBody) },
  connect,
  refuseSocket: refuseListenSocket,
  // Version 4 of Deepgram's SDK uses Node's own WebSocket, which shows neither status nor headers. Pages are never accepted.
  refusesInside: ({ headers }) =>
    headers.origin === undefined && SCHEME.test(headers['sec-websocket-protocol'] ?? ''),
};

async function connect(handshake: Handshake, context: DoorContext): Promise<void> {
  const { caller, requestId, signal } = handshake;
  const { options, choice } = readRequest(handshake, context);
  const stream = await caller.openStream({
    model: choice.model,
    signal,
    endpointing: { silenceMs: options.silenceMs },
    keyterms: options.keyterms,
    numbers: options.numbers,
  });
  const socket = await handshake.accept();
  const listen = new ListenStream({
    ...options,
    request: { requestId, model: choice.model },
    stream,
    send: (messages) => {
      for (const message of messages) socket.send(message);
    },
  });
  const { decoders, config } = context;
  const write = (samples: Int16Array): Promise<void> => listen.write(samples);
  await new ListenSocket({
    socket,
    stream,
    listen,
    requestId,
    idleMs: config.limits.listenIdleMs,
    signal,
    openInput: (onFailure) =>
      openInput(options.audio, { decoders, account: caller.account, signal, write, onFailure }),
  }).serve();
  const { metrics } = context;
  const billedMs = billedMsOf(stream.transcript.sessions) ?? 0;
  metrics.count('svc_compatible_billed_seconds_total', { door: 'listen' }, billedMs / 1000);
  metrics.count('svc_compatible_audio_seconds_total', { door: 'listen' }, listen.receivedMs / 1000);
}
