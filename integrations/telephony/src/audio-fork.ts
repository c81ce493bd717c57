import type { CallEvent, CallLeg } from './call-leg.ts';
import { parseObject, text, whole } from './json.ts';
import type { CallContext, MediaSocket } from './media-socket.ts';

const RATES = new Set([8_000, 16_000, 24_000, 32_000, 48_000]);

/**
 * FreeSWITCH's mod_audio_fork: one text frame of metadata, then L16 audio; `stereo` forks carry the caller on the left
 * and the other side on the right. The rate is not in the protocol: it is `?rate=` (8000) or `sampleRate` in the
 * metadata. Transcripts go back as `{type: 'transcription'}`, which FreeSWITCH raises as an event.
 */
export function serveAudioFork(socket: MediaSocket, context: CallContext): void {
  let legs: readonly CallLeg[] = [];
  let rest = Buffer.alloc(0);
  const onEvent = (event: CallEvent): void => tell(socket, event);
  const start = (metadata: Record<string, unknown>): void => {
    const call = text(metadata, 'callId') ?? text(metadata, 'uuid') ?? 'unknown';
    const wanted = whole(metadata, 'sampleRate') ?? Number(context.query.get('rate') ?? 8_000);
    const sampleRateHz = RATES.has(wanted) ? wanted : 8_000;
    const isStereo = whole(metadata, 'channels') === 2 || context.query.get('channels') === '2';
    const names = isStereo ? ['caller', 'callee'] : ['caller'];
    legs = names.map((leg) =>
      context.openLeg({
        call,
        leg,
        protocol: 'freeswitch',
        encoding: 'pcm_s16le',
        sampleRateHz,
        onEvent,
      }),
    );
  };
  socket.onText((message) => {
    const told = parseObject(message);
    const digit = text(told, 'dtmf');
    if (legs.length === 0) start(told);
    else if (digit !== undefined) legs[0]?.dtmf(digit);
  });
  socket.onAudio((audio) => {
    if (legs.length === 0) start({});
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
  socket.onClose(() => {
    for (const leg of legs) leg.hangUp();
  });
}

function tell(socket: MediaSocket, event: CallEvent): void {
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
