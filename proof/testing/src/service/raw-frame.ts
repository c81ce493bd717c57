/** Builds a WebSocket frame as a client sends it, valid or not. */
export function rawFrame(input: {
  opcode: number;
  payload: Uint8Array;
  fin?: boolean;
  mask?: boolean;
  /** More than the payload's length needs: invalid. */
  lengthBits?: 16 | 64;
}): Buffer {
  const { payload } = input;
  const isHuge = input.lengthBits === 64 || payload.byteLength > 65_535;
  const isLong = !isHuge && (input.lengthBits === 16 || payload.byteLength > 125);
  const masked = input.mask ?? true;
  const length = isHuge ? 127 : isLong ? 126 : payload.byteLength;
  const header = Buffer.alloc(2 + (isHuge ? 8 : isLong ? 2 : 0));
  header[0] = ((input.fin ?? true) ? 0x80 : 0) | input.opcode;
  header[1] = (masked ? 0x80 : 0) | length;
  if (isHuge) header.writeBigUInt64BE(BigInt(payload.byteLength), 2);
  else if (isLong) header.writeUInt16BE(payload.byteLength, 2);
  // A mask of zeros is valid and leaves the payload unchanged.
  return Buffer.concat([header, Buffer.alloc(masked ? 4 : 0), payload]);
}

export function audioFrame(payload: Uint8Array): Buffer {
  return rawFrame({ opcode: 2, payload });
}

export function textFrame(text: string): Buffer {
  return rawFrame({ opcode: 1, payload: Buffer.from(text) });
}
