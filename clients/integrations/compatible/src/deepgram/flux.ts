import type { Door, DoorContext, Handshake } from '../door.ts';
import { readFluxParameters } from './flux-parameters.ts';
import { fluxRules } from './flux-turns.ts';
import { readRequestBy } from './listen-request.ts';
import { refuseListenSocket } from './listen-socket.ts';
import { refusesInside, serveListen } from './serve-listen.ts';
import { turnsBy } from './turns.ts';

/** Deepgram's `/v2/listen`, the socket of Flux: turns with an end that may be announced. */
export const fluxDoor: Door = {
  name: 'flux',
  api: 'deepgram',
  paths: ['/v2/listen'],
  connect,
  refuseSocket: refuseListenSocket,
  refusesInside,
};

function connect(handshake: Handshake, context: DoorContext): Promise<void> {
  const { options, choice } = readRequestBy(
    { readOptions: readFluxParameters, named: ['language_hint', 'language'] },
    handshake,
    context,
  );
  const { silenceMs, eagerMs, thresholds } = options;
  return serveListen(handshake, context, {
    door: 'flux',
    options,
    model: choice.model,
    endpointing: { silenceMs, ...(eagerMs !== null && { eagerMs }) },
    turns: turnsBy(fluxRules({ requestId: handshake.requestId, thresholds })),
    reportsQuiet: false,
    thresholds,
    lastMessages: () => [],
  });
}
