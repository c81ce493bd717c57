import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Emulator } from '@svc-asr/emulator';
import { startEmulatorOn } from '@svc-asr/emulator/on-database.ts';
import { createTestDatabase } from '@svc-asr/testing/postgres/test-database.ts';
import { socketOf } from '../../../emulator/src/connections.ts';
import { clientOf, hum, streamOf } from '../emulator-client.ts';

const SECOND = hum(1_000);
const SECOND_BYTES = SECOND.byteLength;
/** Limits of unsent audio when write() resolves, and of the socket's buffer before the next frame. */
const UNSENT_BYTES_MAX = 5 * SECOND_BYTES;
const SOCKET_BYTES_MAX = 64 * 1024;
const FRAME_BYTES_MAX = SECOND_BYTES + 14;

let emulator: Emulator;
beforeAll(async () => {
  emulator = await startEmulatorOn(await createTestDatabase(), { texts: ['nĩ wega mũno'] });
});
afterAll(() => emulator.stop());
afterEach(() => emulator.faults.assertAllMet());

/** Bytes that this process has written to the service, and those still buffered in the process. */
class Uplink {
  readonly #port = Number(new URL(emulator.url).port);
  readonly #sockets = new Set<Socket>();
  readonly #onSocket = (message: unknown): void => {
    const socket = socketOf(message);
    if (socket !== null) this.#sockets.add(socket);
  };

  constructor() {
    subscribe('net.client.socket', this.#onSocket);
  }

  get waitingBytes(): number {
    return this.#sum((socket) => socket.writableLength);
  }

  get sentBytes(): number {
    return this.#sum((socket) => socket.bytesWritten - socket.writableLength);
  }

  [Symbol.dispose](): void {
    unsubscribe('net.client.socket', this.#onSocket);
  }

  #sum(of: (socket: Socket) => number): number {
    const ours = [...this.#sockets].filter((socket) => socket.remotePort === this.#port);
    return ours.reduce((sum, socket) => sum + of(socket), 0);
  }
}

/** Writes one second at a time, each after the previous write resolved. */
class Source {
  readonly #write: (chunk: Int16Array) => Promise<void>;
  readonly #onAccepted: (seconds: number) => void;
  begun = 0;
  accepted = 0;

  constructor(
    write: (chunk: Int16Array) => Promise<void>,
    onAccepted: (seconds: number) => void = () => {},
  ) {
    this.#write = write;
    this.#onAccepted = onAccepted;
  }

  get isHeld(): boolean {
    return this.begun > this.accepted;
  }

  async run(seconds: number): Promise<void> {
    while (this.begun < seconds) {
      this.begun += 1;
      await this.#write(SECOND);
      this.accepted += 1;
      this.#onAccepted(this.accepted);
    }
  }
}

async function consumedMs(): Promise<number> {
  return (await clientOf(emulator).usage.get()).consumed_ms;
}

test('write() waits while the recogniser is stalled, the queue is bounded, and no audio is lost', async () => {
  using uplink = new Uplink();
  const before = await consumedMs();
  emulator.faults.arm({ name: 'engine-pause', ms: 1_000, times: 1 });
  const stream = streamOf(emulator, { maxAudioSeconds: 300 });
  let mostWaiting = 0;
  const source = new Source(
    (chunk) => stream.write(chunk),
    (seconds) => {
      mostWaiting = Math.max(mostWaiting, seconds * SECOND_BYTES - uplink.sentBytes);
    },
  );
  const written = source.run(290);
  // The network's own buffers fill first. Then the process starts to buffer.
  await expect
    .poll(
      () => source.accepted === 290 || (source.isHeld && uplink.waitingBytes >= SOCKET_BYTES_MAX),
    )
    .toBe(true);
  expect(source.accepted).toBeLessThan(290);
  expect(uplink.waitingBytes).toBeLessThan(SOCKET_BYTES_MAX + FRAME_BYTES_MAX);

  emulator.faults.clear();
  await written;
  const { finals, sessions } = await stream.finish();
  expect(mostWaiting).toBeLessThanOrEqual(UNSENT_BYTES_MAX + SOCKET_BYTES_MAX + FRAME_BYTES_MAX);
  expect(finals.map((final) => [final.start_ms, final.end_ms])).toEqual([[0, 290_000]]);
  expect(sessions).toHaveLength(1);
  expect((await consumedMs()) - before).toBe(290_000);
});

test('accepts five seconds more than the session takes, then waits for the recogniser', async () => {
  const before = await consumedMs();
  emulator.faults.arm({ name: 'engine-pause', ms: 1_000, times: 1 });
  const stream = streamOf(emulator, { maxAudioSeconds: 4 });
  const writer = stream.writable.getWriter();
  const source = new Source(async (chunk) => {
    await writer.ready;
    await writer.write(chunk);
  });
  const written = source.run(20);
  await expect.poll(() => source.begun).toBeGreaterThanOrEqual(10);
  // The service answers other requests meanwhile, but this write stays pending.
  await consumedMs();
  expect([source.accepted, source.begun]).toEqual([9, 10]);
  expect(writer.desiredSize).toBe(0);
  expect(await Promise.race([writer.ready, Promise.resolve('full')])).toBe('full');

  emulator.faults.clear();
  await written;
  expect(writer.desiredSize).toBe(1);
  await writer.close();
  expect(stream.transcript.finals.map((final) => final.end_ms)).toEqual([
    4_000, 8_000, 12_000, 16_000, 20_000,
  ]);
  expect((await consumedMs()) - before).toBe(20_000);
});
