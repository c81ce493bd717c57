import type { ModelId } from '@svc-asr/sdk';
import type { EndpointingOptions } from '@svc-asr/sdk/stream';
import type { DoorContext, Handshake } from '../door.ts';
import type { DoorName } from '../metrics.ts';
import { billedMsOf } from '../transcribe.ts';
import { openInput } from './listen-input.ts';
import { ListenSocket } from './listen-socket.ts';
import { ListenStream } from './listen-stream.ts';
import type { ListenMessage, ReceivedAudio, Thresholds } from './messages.ts';
import type { CommonOptions } from './parameters.ts';
import type { Turns } from './turns.ts';

/** What is left of `token, KEY` after the key was taken. */
const SCHEME = /^(?:token|bearer)$/;

/** Version 4 of Deepgram's SDK uses Node's own WebSocket, which shows neither status nor headers. Pages are never accepted. */
export function refusesInside({ headers }: Handshake['request']): boolean {
  return headers.origin === undefined && SCHEME.test(headers['sec-websocket-protocol'] ?? '');
}

export interface Dialect {
  readonly door: DoorName;
  readonly options: CommonOptions;
  readonly model: ModelId;
  readonly endpointing: EndpointingOptions & { readonly silenceMs: number };
  readonly turns: Turns;
  readonly reportsQuiet: boolean;
  /** Those of `/v2/listen`, whose messages are numbered and begin with `Connected`. */
  readonly thresholds: Thresholds | null;
  readonly lastMessages: (audio: ReceivedAudio) => readonly ListenMessage[];
}

/** Serves a socket for live audio. Resolves when it has closed. */
export async function serveListen(
  handshake: Handshake,
  { config, decoders, metrics }: DoorContext,
  { door, options, model, endpointing, thresholds, ...dialect }: Dialect,
): Promise<void> {
  const { caller, requestId, signal } = handshake;
  const { audio, keyterms, numbers } = options;
  const stream = await caller.openStream({ model, signal, endpointing, keyterms, numbers });
  const socket = await handshake.accept();
  let sequence = 0;
  const send = (message: ListenMessage): void => {
    socket.send(thresholds === null ? message : { ...message, sequence_id: sequence });
    sequence += 1;
  };
  if (thresholds !== null) send({ type: 'Connected', request_id: requestId });
  const listen = new ListenStream({
    ...dialect,
    stream,
    silenceMs: endpointing.silenceMs,
    send: (messages) => {
      for (const message of messages) send(message);
    },
  });
  const write = (samples: Int16Array): Promise<void> => listen.write(samples);
  await new ListenSocket({
    socket,
    send,
    stream,
    listen,
    requestId,
    thresholds,
    idleMs: config.limits.listenIdleMs,
    signal,
    openInput: (onFailure) =>
      openInput(audio, { decoders, account: caller.account, signal, write, onFailure }),
  }).serve();
  const billedMs = billedMsOf(stream.transcript.sessions) ?? 0;
  metrics.count('svc_compatible_billed_seconds_total', { door }, billedMs / 1000);
  metrics.count('svc_compatible_audio_seconds_total', { door }, listen.receivedMs / 1000);
}
