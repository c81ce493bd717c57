/** Any key but zero, which servers would skip. Browsers take a random one for each frame. */
const MASK = [0x5a, 0xc3, 0x17, 0x8e] as const;
const BINARY = 0x82;
const TEXT = 0x81;

/** Returns a whole WebSocket frame of a client. Made once, it can be sent on any number of sockets. */
export function maskedFrame(payload: Uint8Array | string): Buffer {
  const body = Buffer.from(payload);
  const isShort = body.length < 126;
  if (body.length > 0xffff) throw new RangeError('Frames have at most 65,535 bytes here.');
  const head = Buffer.alloc(isShort ? 2 : 4);
  head[0] = typeof payload === 'string' ? TEXT : BINARY;
  head[1] = 0x80 | (isShort ? body.length : 126);
  if (!isShort) head.writeUInt16BE(body.length, 2);
  for (let at = 0; at < body.length; at += 1) {
    body[at] = (body[at] ?? 0) ^ (MASK[at % MASK.length] ?? 0);
  }
  return Buffer.concat([head, Buffer.from(MASK), body]);
}
