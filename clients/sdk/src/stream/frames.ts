import { randomFillSync } from 'node:crypto';

/** RFC 6455 frames of a client: outgoing frames are masked, incoming ones are not. */
export const OPCODE = { more: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

/** Far above the longest event. */
const MESSAGE_BYTES_MAX = 1024 * 1024;

export type ServerFrame =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'ping'; readonly payload: Buffer }
  | { readonly kind: 'close'; readonly code: number; readonly reason: string }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'violation' };

export function encodeFrame(opcode: number, payload: Uint8Array): Buffer {
  const { byteLength } = payload;
  const lengthBytes = byteLength < 126 ? 0 : byteLength < 65_536 ? 2 : 8;
  const frame = Buffer.allocUnsafe(2 + lengthBytes + 4 + byteLength);
  frame[0] = 0x80 | opcode;
  if (lengthBytes === 0) frame[1] = 0x80 | byteLength;
  else if (lengthBytes === 2) {
    frame[1] = 0x80 | 126;
    frame.writeUInt16BE(byteLength, 2);
  } else {
    frame[1] = 0x80 | 127;
    frame.writeBigUInt64BE(BigInt(byteLength), 2);
  }
  const mask = randomFillSync(frame.subarray(2 + lengthBytes, 6 + lengthBytes));
  const body = frame.subarray(6 + lengthBytes);
  const [a = 0, b = 0, c = 0, d = 0] = mask;
  body.set(payload);
  // Four bytes a turn. Writes beyond the end are ignored.
  for (let at = 0; at < byteLength; at += 4) {
    body[at] = (body[at] ?? 0) ^ a;
    body[at + 1] = (body[at + 1] ?? 0) ^ b;
    body[at + 2] = (body[at + 2] ?? 0) ^ c;
    body[at + 3] = (body[at + 3] ?? 0) ^ d;
  }
  return frame;
}

/** Turns bytes into whole messages. Reads nothing more after a violation. */
export class FrameReader {
  #bytes: Buffer = Buffer.alloc(0);
  #message: Buffer[] = [];
  #messageBytes = 0;
  #broken = false;

  *push(bytes: Buffer): Generator<ServerFrame> {
    this.#bytes = Buffer.concat([this.#bytes, bytes]);
    while (!this.#broken) {
      const header = readHeader(this.#bytes);
      if (header === null) return;
      if (header === 'violation' || this.#messageBytes + header.length > MESSAGE_BYTES_MAX) {
        this.#broken = true;
        yield { kind: 'violation' };
        return;
      }
      const end = header.size + header.length;
      if (this.#bytes.byteLength < end) return;
      const payload = this.#bytes.subarray(header.size, end);
      this.#bytes = this.#bytes.subarray(end);
      yield this.#read(header, payload);
    }
  }

  #read(header: Header, payload: Buffer): ServerFrame {
    switch (header.opcode) {
      case OPCODE.text:
      case OPCODE.more:
        return this.#collect(header.fin, payload);
      case OPCODE.ping:
        return { kind: 'ping', payload };
      case OPCODE.close:
        return payload.byteLength < 2
          ? { kind: 'close', code: 1005, reason: '' }
          : { kind: 'close', code: payload.readUInt16BE(0), reason: payload.toString('utf8', 2) };
      default:
        return { kind: 'ignored' };
    }
  }

  #collect(fin: boolean, payload: Buffer): ServerFrame {
    this.#message.push(payload);
    this.#messageBytes += payload.byteLength;
    if (!fin) return { kind: 'ignored' };
    const text = Buffer.concat(this.#message).toString('utf8');
    this.#message = [];
    this.#messageBytes = 0;
    return { kind: 'text', text };
  }
}

interface Header {
  readonly fin: boolean;
  readonly opcode: number;
  readonly size: number;
  readonly length: number;
}

function readHeader(bytes: Buffer): Header | 'violation' | null {
  const first = bytes[0];
  const second = bytes[1];
  if (first === undefined || second === undefined) return null;
  // Reserved bits need an extension, and servers must not mask.
  if ((first & 0x70) !== 0 || (second & 0x80) !== 0) return 'violation';
  const fin = (first & 0x80) !== 0;
  const opcode = first & 0x0f;
  if (second < 126) return { fin, opcode, size: 2, length: second };
  if (second === 126) {
    return bytes.byteLength < 4 ? null : { fin, opcode, size: 4, length: bytes.readUInt16BE(2) };
  }
  if (bytes.byteLength < 10) return null;
  return { fin, opcode, size: 10, length: Number(bytes.readBigUInt64BE(2)) };
}
