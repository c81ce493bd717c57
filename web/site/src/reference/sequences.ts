import { SUBPROTOCOL } from '@svc-asr/protocol/constants.ts';
import type { Sequence } from './sequence-diagram.ts';

/** A name at the start of an arrow's text is a message or an event. A test compares them with asyncapi.json. */

const SERVER = 0;
const CLIENT = 1;
const SERVICE = 2;
const ACTORS = ['Your server', 'Your client', 'svc-asr'] as const;

export const SESSION: Sequence = {
  title: 'One session: your server reserves it, and your client streams',
  actors: ACTORS,
  steps: [
    { from: SERVER, to: SERVICE, text: 'POST /v1/asr/sessions', note: 'with the API key' },
    { from: SERVICE, to: SERVER, text: '201', note: 'credit is reserved' },
    {
      from: SERVER,
      to: CLIENT,
      text: 'the session',
      note: 'websocket_url and websocket_protocols',
    },
    { from: CLIENT, to: SERVICE, text: 'WebSocket upgrade', note: 'within 60 seconds, once' },
    { from: SERVICE, to: CLIENT, text: `101 ${SUBPROTOCOL}` },
    {
      from: SERVICE,
      to: CLIENT,
      text: 'status loading',
      note: 'only if the recogniser is starting',
    },
    { from: SERVICE, to: CLIENT, text: 'ready', note: 'from now on audio is accepted' },
    { from: CLIENT, to: SERVICE, text: 'audio', note: 'binary frames, all the time' },
    { from: SERVICE, to: CLIENT, text: 'delta', note: 'replaces the text so far' },
    { from: SERVICE, to: CLIENT, text: 'delta' },
    { from: CLIENT, to: SERVICE, text: 'flush', note: 'the speaker has finished' },
    { from: SERVICE, to: CLIENT, text: 'final', note: 'exactly one per flush' },
    { band: 'The next utterance: audio, delta, flush, final' },
    { from: CLIENT, to: SERVICE, text: 'close 1000' },
    {
      from: SERVICE,
      to: CLIENT,
      text: 'close 1000 completed',
      note: 'charged; the rest is returned',
    },
  ],
};

export const ENDPOINTING: Sequence = {
  title: 'With endpointing the server ends each turn at a pause',
  actors: ['Your client', 'svc-asr'],
  steps: [
    { from: 1, to: 0, text: 'ready' },
    { from: 0, to: 1, text: 'config endpointing' },
    { from: 1, to: 0, text: 'config_ack' },
    { from: 0, to: 1, text: 'audio' },
    { from: 1, to: 0, text: 'speech_started' },
    { from: 1, to: 0, text: 'delta' },
    { band: 'The speaker pauses for silence_ms' },
    { from: 1, to: 0, text: 'speech_ended' },
    { from: 1, to: 0, text: 'final reason: endpoint' },
    { band: 'Keep sending: speech_started begins the next turn' },
  ],
};

export const FAILURE: Sequence = {
  title: 'After a retryable error the client continues in a new session',
  actors: ACTORS,
  steps: [
    { from: CLIENT, to: SERVICE, text: 'audio' },
    { from: SERVICE, to: CLIENT, text: 'error retryable: true', note: 'fatal; nothing is charged' },
    { from: SERVICE, to: CLIENT, text: 'close 1011, 1012 or 1013' },
    { from: CLIENT, to: SERVER, text: 'asks for a new session' },
    { from: SERVER, to: SERVICE, text: 'POST /v1/asr/sessions' },
    { from: SERVICE, to: SERVER, text: '201' },
    {
      from: SERVER,
      to: CLIENT,
      text: 'the session',
      note: 'websocket_url and websocket_protocols',
    },
    { from: CLIENT, to: SERVICE, text: 'WebSocket upgrade' },
    { from: SERVICE, to: CLIENT, text: 'ready' },
    { from: CLIENT, to: SERVICE, text: 'audio', note: 'from the last final on' },
  ],
};
