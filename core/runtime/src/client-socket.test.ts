import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { ClientSocket } from './client-socket.ts';

const SILENCE_MS = 60_000;

class FakeWebSocket extends EventEmitter {
  readyState = 1;
  bufferedAmount = 0;
  send = vi.fn<() => void>();
  pong = vi.fn<() => void>();
  pause = vi.fn<() => void>();
  resume = vi.fn<() => void>();
  close = vi.fn<() => void>();
  terminate = vi.fn<() => void>();
}

let raw: FakeWebSocket;
let socket: ClientSocket;
let silences: number;
beforeEach(() => {
  vi.useFakeTimers();
  raw = new FakeWebSocket();
  socket = new ClientSocket(raw);
  silences = 0;
  socket.onSilence(SILENCE_MS, () => (silences += 1));
});
afterEach(() => vi.useRealTimers());

test('a client that sends nothing is silent, counted from its last message', () => {
  vi.advanceTimersByTime(SILENCE_MS - 1);
  raw.emit('message', Buffer.from('{}'), false);
  vi.advanceTimersByTime(SILENCE_MS - 1);
  expect(silences).toBe(0);
  vi.advanceTimersByTime(1);
  expect(silences).toBe(1);
});

test('a client is not silent while it is not read, nor when it is read again', () => {
  socket.pause();
  vi.advanceTimersByTime(2.5 * SILENCE_MS);
  expect(silences).toBe(0);
  socket.resume();
  vi.advanceTimersByTime(SILENCE_MS - 1);
  expect(silences).toBe(0);
  vi.advanceTimersByTime(1);
  expect(silences).toBe(1);
});

test('sockets that are resumed after every message are silent in time', () => {
  for (let ms = 0; ms < SILENCE_MS; ms += 1_000) {
    socket.resume();
    vi.advanceTimersByTime(1_000);
  }
  expect(silences).toBe(1);
});

test('a closed socket leaves no timer', () => {
  raw.emit('close');
  expect(vi.getTimerCount()).toBe(0);
});
