/** A 16 kHz mono WAV file with a continuous tone: no pauses. */
export function toneWav(ms: number): Buffer {
  const samples = Int16Array.from({ length: ms * 16 }, (_, at) => 8_000 * Math.sin(at / 11));
  return wavOf(Buffer.from(samples.buffer));
}

/** A WAV file with the given 16 kHz mono PCM. */
export function wavOf(pcm: Uint8Array): Buffer {
  return Buffer.concat([wavHeader(pcm.byteLength), pcm]);
}

/** What precedes this many bytes of 16 kHz mono PCM in a WAV file. */
export function wavHeader(bytes: number): Buffer {
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + bytes, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(16_000, 24);
  header.writeUInt32LE(32_000, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(bytes, 40);
  return header;
}
