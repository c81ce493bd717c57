import type { Door, DoorContext, Handshake } from '../door.ts';
import { withFileSlot } from '../with-file-slot.ts';
import { transcribeBody } from './listen-body.ts';
import { readRequest } from './listen-request.ts';
import { refuseListenSocket } from './listen-socket.ts';
import { metadata } from './messages.ts';
import { refusesInside, serveListen } from './serve-listen.ts';
import { FIRST_TURN, nextTurn, turnsBy } from './turns.ts';

/** Deepgram's `/v1/listen`: a WebSocket for live audio, a POST for a file. */
export const listenDoor: Door = {
  name: 'listen',
  api: 'deepgram',
  paths: ['/v1/listen'],
  handle: { POST: withFileSlot(transcribeBody) },
  connect,
  refuseSocket: refuseListenSocket,
  refusesInside,
};

function connect(handshake: Handshake, context: DoorContext): Promise<void> {
  const { options, choice } = readRequest(handshake, context);
  const request = { requestId: handshake.requestId, model: choice.model };
  return serveListen(handshake, context, {
    door: 'listen',
    options,
    model: choice.model,
    endpointing: { silenceMs: options.silenceMs },
    turns: turnsBy({
      first: FIRST_TURN,
      next: (state, input) => nextTurn({ ...options, request }, state, input),
    }),
    reportsQuiet: options.utteranceEndMs !== null,
    thresholds: null,
    lastMessages: (audio) => [metadata(request, audio)],
  });
}
