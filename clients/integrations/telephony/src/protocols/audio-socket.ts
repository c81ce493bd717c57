import type { Socket } from 'node:net';
import type { AnnouncedLeg } from './announced-legs.ts';
import type { CallLeg } from '../call-leg.ts';
import type { CallContext, JoinedCall } from '../call-context.ts';

/** Asterisk's AudioSocket: type, length (16 bits, big-endian), payload. */
const KIND = { hangUp: 0x00, uuid: 0x01, dtmf: 0x03, audio: 0x10, error: 0xff } as const;
/** Signed linear audio at other rates, as newer versions of Asterisk send it. */
const RATES: Readonly<Record<number, number>> = {
  0x10: 8_000,
  0x11: 12_000,
  0x12: 16_000,
  0x13: 24_000,
  0x14: 32_000,
  0x15: 44_100,
  0x16: 48_000,
};
const HEADER_BYTES = 3;
const REPLY_EVERY_MS = 1_000;
const REPLY_MS = 20;

/**
 * One TCP connection is one leg. The UUID comes first: the dialplan may have announced what it stands for, otherwise it names
 * a call of one leg. Asterisk hangs up after 2 s without a frame in either
 * direction. On hold the caller sends none, so the bridge sends a frame of silence each second.
 */
export function serveAudioSocket(
  socket: Socket,
  context: CallContext,
  announced: (uuid: string) => AnnouncedLeg | null,
): void {
  let bytes = Buffer.alloc(0);
  let joined: JoinedCall | null = null;
  let name = 'caller';
  let leg: CallLeg | null = null;
  let audioKind: number = KIND.audio;
  const reply = setInterval(() => {
    // A peer that doesn't read must not fill our memory.
    if (joined !== null && socket.writableLength === 0) socket.write(silence(audioKind));
  }, REPLY_EVERY_MS);
  const onMessage = (kind: number, payload: Buffer): void => {
    const sampleRateHz = RATES[kind];
    if (kind === KIND.uuid && joined === null) {
      const call = uuidText(payload);
      const start = announced(call) ?? { call, leg: name, language: null, parameters: {} };
      name = start.leg;
      joined = context.joinCall(start);
    } else if (sampleRateHz !== undefined && joined !== null) {
      const { call, language } = joined;
      leg ??= call.openLeg({ leg: name, language, encoding: 'pcm_s16le', sampleRateHz });
      leg.push(payload);
      audioKind = kind;
    } else if (kind === KIND.dtmf) leg?.dtmf(payload.toString('latin1'));
    else if (kind === KIND.hangUp || kind === KIND.error) {
      leg?.hangUp();
      socket.end();
    }
  };
  const onData = (data: Buffer): void => {
    bytes = Buffer.concat([bytes, data]);
    while (bytes.byteLength >= HEADER_BYTES) {
      const end = HEADER_BYTES + bytes.readUInt16BE(1);
      if (bytes.byteLength < end) return;
      const kind = bytes[0] ?? KIND.error;
      const payload = bytes.subarray(HEADER_BYTES, end);
      bytes = bytes.subarray(end);
      onMessage(kind, payload);
    }
  };
  socket.on('data', (data) => {
    try {
      onData(data);
    } catch {
      // It ends this call and no other.
      socket.destroy();
    }
  });
  socket.on('close', () => {
    clearInterval(reply);
    leg?.hangUp();
    joined?.leave();
  });
}

function silence(kind: number): Buffer {
  const bytes = (2 * (RATES[kind] ?? 0) * REPLY_MS) / 1_000;
  const frame = Buffer.alloc(HEADER_BYTES + bytes);
  frame.writeUInt8(kind);
  frame.writeUInt16BE(bytes, 1);
  return frame;
}

function uuidText(payload: Buffer): string {
  return payload.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*$/, '$1-$2-$3-$4-$5');
}
