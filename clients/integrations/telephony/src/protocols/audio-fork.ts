import type { Call } from '../call.ts';
import type { CallLeg } from '../call-leg.ts';
import type { LegEvent } from '../events.ts';
import { parseObject, text, type JsonObject } from '@svc-asr/protocol/json-object.ts';
import type { ClientSocket } from '@svc-asr/runtime/client-socket.ts';
import type { CallContext } from '../call-context.ts';
import { callId, parametersOf } from '../parameters.ts';
import { RATES_ADVICE, sampleRate } from './sample-rates.ts';

/**
 * FreeSWITCH's mod_audio_fork: one text frame of metadata, then L16 audio; `stereo` forks carry the caller on the left
 * and the other side on the right. The rate is not in the protocol: it is `?rate=` (8000) or `sampleRate` in the
 * metadata. Transcripts go back as `{type: 'transcription'}`, which FreeSWITCH raises as an event.
 */
export function serveAudioFork(socket: ClientSocket, context: CallContext): void {
  let call: Call | null = null;
  let legs: readonly CallLeg[] = [];
  let rest = Buffer.alloc(0);
  const onEvent = (event: LegEvent): void => tell(socket, event);
  const start = (metadata: JsonObject): void => {
    const format = formatOf(metadata, context.query);
    if (format === null) {
      context.refuse('unsupported_audio', RATES_ADVICE);
      socket.send({ type: 'error', data: { reason: 'unsupported_audio' } });
      return socket.close(1003, 'unsupported_audio');
    }
    const ids = [text(metadata, 'callId'), text(metadata, 'uuid'), context.query.get('call')];
    call = context.startCall({
      call: callId('freeswitch', ...ids),
      language: text(metadata, 'language') ?? context.query.get('language'),
      parameters: parametersOf({ ...Object.fromEntries(context.query), ...metadata }),
    });
    if (call === null) {
      socket.send({ type: 'error', data: { reason: 'unsupported_language' } });
      return socket.close(1003, 'unsupported_language');
    }
    const started = call;
    const { sampleRateHz } = format;
    const audio = { encoding: 'pcm_s16le', sampleRateHz } as const;
    legs = format.legs.map((leg) => started.openLeg({ leg, ...audio, onEvent }));
  };
  socket.onText((message) => {
    const told = parseObject(message);
    const digit = text(told, 'dtmf');
    if (call === null) start(told);
    else if (digit !== undefined) legs[0]?.dtmf(digit);
  });
  socket.onBinary((audio) => {
    if (call === null) start({});
    const [caller, callee] = legs;
    if (callee === undefined) {
      caller?.push(audio);
      return;
    }
    const whole = Buffer.concat([rest, audio]);
    const end = whole.byteLength - (whole.byteLength % 4);
    rest = whole.subarray(end);
    caller?.push(channel(whole.subarray(0, end), 0));
    callee.push(channel(whole.subarray(0, end), 2));
  });
  socket.onClose(() => call?.hangUp());
}

/** Null if the address or the metadata name a format that FreeSWITCH doesn't send. */
function formatOf(
  metadata: JsonObject,
  query: URLSearchParams,
): { readonly sampleRateHz: number; readonly legs: readonly string[] } | null {
  const sampleRateHz = sampleRate(metadata['sampleRate'] ?? Number(query.get('rate') ?? 8_000));
  const channels = metadata['channels'] ?? Number(query.get('channels') ?? 1);
  if (sampleRateHz === null || (channels !== 1 && channels !== 2)) return null;
  return { sampleRateHz, legs: channels === 2 ? ['caller', 'callee'] : ['caller'] };
}

function tell(socket: ClientSocket, event: LegEvent): void {
  if (event.type === 'final' || event.type === 'interim') {
    const data = { leg: event.leg, is_final: event.type === 'final', transcript: event.text };
    socket.send({ type: 'transcription', data });
  }
  if (event.type === 'ended' && event.reason !== 'completed') {
    socket.send({ type: 'error', data: { leg: event.leg, reason: event.reason } });
  }
}

function channel(stereo: Buffer, offset: 0 | 2): Buffer {
  const mono = Buffer.alloc(stereo.byteLength / 2);
  for (let at = 0; at < mono.byteLength; at += 2)
    stereo.copy(mono, at, at * 2 + offset, at * 2 + offset + 2);
  return mono;
}
