import { array, assert, integer, property, record, string } from 'fast-check';
import { expect, test } from 'vitest';
import { encodeFrame, FrameReader } from '../src/pool/frames.ts';

const u32 = integer({ min: 0, max: 2 ** 32 - 1 });
const frame = record({
  type: integer({ min: 1, max: 255 }),
  stream: u32,
  utterance: u32,
  credits: integer({ min: 0, max: 65_535 }),
  payload: string({ maxLength: 300 }),
});

test('parses frames from any chunks', () => {
  const cuts = array(integer({ min: 1, max: 400 }), { minLength: 1 });
  assert(
    property(array(frame), cuts, (sent, sizes) => {
      const bytes = Buffer.concat(
        sent.map(({ payload, ...header }) => encodeFrame(header, payload)),
      );
      const received: unknown[] = [];
      const reader = new FrameReader((one) =>
        received.push({ ...one, payload: one.payload.toString() }),
      );
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const size = sizes[turn % sizes.length] ?? 1;
        reader.push(bytes.subarray(at, at + size));
        at += size;
      }
      expect(received).toEqual(sent);
    }),
  );
});

test('parses a frame larger than the buffer', () => {
  const payload = 'ũ'.repeat(400_000);
  const received: string[] = [];
  const reader = new FrameReader((one) => received.push(one.payload.toString()));
  reader.push(encodeFrame({ type: 1 }, payload));
  reader.push(encodeFrame({ type: 2 }, 'nĩ'));
  expect(received).toEqual([payload, 'nĩ']);
});

test('rejects an oversized frame', () => {
  const reader = new FrameReader(() => {});
  expect(() => reader.push(Buffer.alloc(16, 0xff))).toThrow(RangeError);
});
