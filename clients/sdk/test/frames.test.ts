import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, FrameReader, OPCODE } from '../src/stream/frames.ts';

/** Encodes a frame as a server would, without a mask. */
function unmasked(frame: Buffer): Buffer {
  const short = (frame[1] ?? 0) & 0x7f;
  const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
  const mask = frame.subarray(2 + lengthBytes, 6 + lengthBytes);
  const body = frame.subarray(6 + lengthBytes).map((byte, at) => byte ^ (mask[at % 4] ?? 0));
  const header = Buffer.from(frame.subarray(0, 2 + lengthBytes));
  header[1] = short;
  return Buffer.concat([header, body]);
}

function part(first: number, text: string): Buffer {
  return Buffer.concat([Buffer.from([first, text.length]), Buffer.from(text)]);
}

function readClose(payload: Buffer) {
  const bytes = Buffer.concat([Buffer.from([0x88, payload.length]), payload]);
  return [...new FrameReader().push(bytes)];
}

test('parses text messages of any length from any chunks', () => {
  fc.assert(
    fc.property(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('x'.repeat(126), 'ũ'.repeat(40_000)))),
      fc.array(fc.integer({ min: 1, max: 50_000 })),
      (texts, cuts) => {
        const bytes = Buffer.concat(
          texts.map((text) => unmasked(encodeFrame(OPCODE.text, Buffer.from(text)))),
        );
        const reader = new FrameReader();
        const read: string[] = [];
        let at = 0;
        for (const cut of [...cuts, bytes.byteLength + 1]) {
          for (const frame of reader.push(bytes.subarray(at, at + cut))) {
            if (frame.kind === 'text') read.push(frame.text);
          }
          at += cut;
        }
        expect(read).toEqual(texts.map((text) => Buffer.from(text).toString()));
      },
    ),
  );
});

test('joins a fragmented message with a ping in between', () => {
  const reader = new FrameReader();
  const bytes = Buffer.concat([part(0x01, 'nyi'), part(0x89, 'p'), part(0x80, 'thindo')]);
  expect([...reader.push(bytes)].filter((frame) => frame.kind !== 'ignored')).toEqual([
    { kind: 'ping', payload: Buffer.from('p') },
    { kind: 'text', text: 'nyithindo' },
  ]);
});

test('parses the code and reason of a close frame, or their absence', () => {
  const reason = Buffer.concat([Buffer.from([0x03, 0xf4]), Buffer.from('service_restart')]);
  expect(readClose(reason)).toEqual([{ kind: 'close', code: 1012, reason: 'service_restart' }]);
  expect(readClose(Buffer.alloc(0))).toEqual([{ kind: 'close', code: 1005, reason: '' }]);
});

test('reports masked frames, reserved bits and oversized messages as violations, and never throws', () => {
  for (const bytes of [
    [0x81, 0x80],
    [0xc1, 0x00],
    [0x81, 127, 0, 0, 1, 0, 0, 0, 0, 0],
  ]) {
    expect([...new FrameReader().push(Buffer.from(bytes))]).toEqual([{ kind: 'violation' }]);
  }
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 40 })), (pieces) => {
      const reader = new FrameReader();
      for (const piece of pieces)
        expect([...reader.push(Buffer.from(piece))]).toBeInstanceOf(Array);
    }),
  );
});
