/**
 * The protocol between parent and child over their socket: a 16-byte little-endian header, then the payload.
 *
 *   0 payload bytes u32 | 4 type u8 | 5 unused | 6 credits u16 | 8 stream u32 | 12 utterance u32
 */
export const HEADER_BYTES = 16;
/** The words of the longest utterance are far smaller. A larger payload means a broken peer. */
const PAYLOAD_BYTES_MAX = 4 * 1024 * 1024;

export const FRAME = {
  // To the child.
  open: 1,
  audio: 2,
  flush: 3,
  reset: 4,
  close: 5,
  ping: 6,
  /** The utterance field holds the first utterance that the keyterms apply to. */
  keyterms: 7,
  /** The utterance field holds the number of the question. So it does in `peeked`. */
  peek: 8,
  // To the parent.
  ready: 16,
  opened: 17,
  decoded: 18,
  final: 19,
  pong: 20,
  peeked: 21,
} as const;

export interface FrameHeader {
  readonly type: number;
  /** Never reused by a child, so late output of a closed stream is discarded. */
  readonly stream?: number;
  readonly utterance?: number;
  /** Number of the stream's chunks and flushes that are done. The parent may send as many more. */
  readonly credits?: number;
}

export interface Frame extends Required<FrameHeader> {
  /** Borrowed: valid until the handler returns. */
  readonly payload: Buffer;
}

export function writeHeader(target: Buffer, header: FrameHeader, payloadBytes: number): void {
  target.writeUInt32LE(payloadBytes, 0);
  target.writeUInt8(header.type, 4);
  target.writeUInt8(0, 5);
  target.writeUInt16LE(header.credits ?? 0, 6);
  target.writeUInt32LE(header.stream ?? 0, 8);
  target.writeUInt32LE(header.utterance ?? 0, 12);
}

export function encodeFrame(header: FrameHeader, payload = ''): Buffer {
  const payloadBytes = Buffer.byteLength(payload);
  const frame = Buffer.allocUnsafe(HEADER_BYTES + payloadBytes);
  writeHeader(frame, header, payloadBytes);
  frame.write(payload, HEADER_BYTES);
  return frame;
}

const REPLAY_DIGITS = 10;

/**
 * In an open frame, the utterance field holds the model's index. The payload is the amount of replayed
 * audio, padded to an even number of digits, because the child reads the following samples in place at
 * even offsets.
 */
export function encodeOpen(input: {
  readonly stream: number;
  readonly model: number;
  readonly replayBytes: number;
}): Buffer {
  const header = { type: FRAME.open, stream: input.stream, utterance: input.model };
  return encodeFrame(header, String(input.replayBytes).padStart(REPLAY_DIGITS, '0'));
}

/** Cuts a byte stream into frames, in one buffer that a socket can read straight into. */
export class FrameReader {
  #buffer = Buffer.allocUnsafeSlow(256 * 1024);
  #filled = 0;
  readonly #onFrame: (frame: Frame) => void;

  constructor(onFrame: (frame: Frame) => void) {
    this.#onFrame = onFrame;
  }

  /** Free space for the next bytes. Call `filled` with the number of bytes read. */
  space(): Buffer {
    return this.#buffer.subarray(this.#filled);
  }

  push(bytes: Buffer): void {
    let at = 0;
    while (at < bytes.length) {
      const copied = bytes.copy(this.#buffer, this.#filled, at);
      at += copied;
      this.filled(copied);
    }
  }

  filled(bytes: number): void {
    this.#filled += bytes;
    let at = 0;
    while (this.#filled - at >= HEADER_BYTES) {
      const payloadBytes = this.#buffer.readUInt32LE(at);
      if (payloadBytes > PAYLOAD_BYTES_MAX) throw new RangeError('A frame is too long.');
      const end = at + HEADER_BYTES + payloadBytes;
      if (end > this.#filled) {
        this.#makeRoom(end - at);
        break;
      }
      this.#onFrame(this.#frameAt(at, end));
      at = end;
    }
    if (at === 0) return;
    this.#buffer.copyWithin(0, at, this.#filled);
    this.#filled -= at;
  }

  #frameAt(at: number, end: number): Frame {
    return {
      type: this.#buffer.readUInt8(at + 4),
      credits: this.#buffer.readUInt16LE(at + 6),
      stream: this.#buffer.readUInt32LE(at + 8),
      utterance: this.#buffer.readUInt32LE(at + 12),
      payload: this.#buffer.subarray(at + HEADER_BYTES, end),
    };
  }

  #makeRoom(frameBytes: number): void {
    if (frameBytes <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafeSlow(frameBytes);
    this.#buffer.copy(larger, 0, 0, this.#filled);
    this.#buffer = larger;
  }
}
