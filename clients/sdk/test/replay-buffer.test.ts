import { expect, test } from 'vitest';
import { ReplayBuffer } from '../src/stream/replay-buffer.ts';

const MS = 16;

function send(buffer: ReplayBuffer): void {
  while (buffer.next() !== undefined);
}

test('keeps audio and a flush that were on their way when the service ended the session', () => {
  const buffer = new ReplayBuffer();
  buffer.write(new Uint8Array(1_200 * MS * 2));
  buffer.write(new Uint8Array(500 * MS * 2));
  buffer.flush(1);
  send(buffer);
  const settled = buffer.settleEnd(1_200 * MS);
  expect(settled).toEqual({ answered: [], startSample: 0, endSample: 1_200 * MS });
  buffer.rewind();
  expect(buffer.next()).toMatchObject({ kind: 'audio', at: 1_200 * MS });
  expect(buffer.next()).toEqual({ kind: 'flush', id: 1 });
});

test('the last final of a session answers the flush right behind its audio', () => {
  const buffer = new ReplayBuffer();
  buffer.write(new Uint8Array(1_000 * MS * 2));
  buffer.flush(1);
  send(buffer);
  expect(buffer.settleEnd(1_000 * MS)).toMatchObject({ answered: [1], endSample: 1_000 * MS });
  expect(buffer.isEmpty).toBe(true);
});

test('splits a frame that the service accepted in part', () => {
  const buffer = new ReplayBuffer();
  buffer.write(new Uint8Array(100 * MS * 2));
  send(buffer);
  expect(buffer.settleEnd(60 * MS)).toMatchObject({ startSample: 0, endSample: 60 * MS });
  buffer.rewind();
  expect(buffer.next()).toMatchObject({ kind: 'audio', at: 60 * MS });
});
