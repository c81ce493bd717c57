import { once } from 'node:events';
import { connect as connectTcp, createServer, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect as connectTls, type ConnectionOptions } from 'node:tls';
import { listen } from '@svc-asr/runtime/listen.ts';
import type { Attack } from './attacks.ts';

const CONNECT_MS_MAX = 10_000;
/** A server may wait for the rest of a request, so the client leaves without an answer. */
const ANSWER_MS_MAX = 50;

/** Where to send attacks. With `tls`, they go through a complete handshake. */
export interface Address {
  readonly port: number;
  readonly tls: ConnectionOptions | null;
}

/** Sends one attack. */
export async function send(address: Address, attack: Attack): Promise<void> {
  await withSocket(address, (socket, wire) => deliver({ socket, wire, attack }));
}

/** Returns whether the server accepts a connection and, if it speaks HTTP, answers a request. */
export async function isServing(address: Address & { speaks: string }): Promise<boolean> {
  let isAnswered = false;
  await withSocket(address, async (socket) => {
    isAnswered = address.speaks !== 'http' || (await answersRequest(socket));
  });
  return isAnswered;
}

async function answersRequest(socket: Socket): Promise<boolean> {
  const answer = once(socket, 'data').then(
    () => true,
    () => false,
  );
  socket.write('GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n');
  return Promise.race([answer, sleep(CONNECT_MS_MAX, false, { ref: false })]);
}

/** Does nothing if the server refuses the connection. */
async function withSocket(
  address: Address,
  use: (socket: Socket, wire: Socket) => Promise<void>,
): Promise<void> {
  const { port } = address;
  const wire = connectTcp(port, '127.0.0.1');
  wire.on('error', () => undefined);
  const socket: Socket =
    address.tls === null ? wire : connectTls({ ...address.tls, socket: wire, port });
  socket.on('error', () => undefined);
  try {
    const isOpen = await opened(socket, address.tls === null ? 'connect' : 'secureConnect');
    if (isOpen) await use(socket, wire);
  } finally {
    socket.destroy();
    wire.destroy();
  }
}

async function opened(socket: Socket, event: 'connect' | 'secureConnect'): Promise<boolean> {
  const outcome = Promise.withResolvers<boolean>();
  socket.once(event, () => outcome.resolve(true));
  socket.once('close', () => outcome.resolve(false));
  return Promise.race([outcome.promise, sleep(CONNECT_MS_MAX, false, { ref: false })]);
}

async function deliver(input: { socket: Socket; wire: Socket; attack: Attack }): Promise<void> {
  const { socket, wire, attack } = input;
  const answered = Promise.race([
    once(socket.resume(), 'data'),
    once(socket, 'close'),
    sleep(ANSWER_MS_MAX, undefined, { ref: false }),
  ]).catch(() => undefined);
  await new Promise((resolve) => socket.write(attack.bytes, resolve));
  switch (attack.ending) {
    case 'reset':
      wire.resetAndDestroy();
      return;
    case 'reset_after_answer':
      await answered;
      wire.resetAndDestroy();
      return;
    case 'half_close':
      socket.end();
      await answered;
      return;
    case 'wait':
      await answered;
      return;
  }
}

/** The first message of a TLS client, as bytes, so that it can be cut anywhere. */
export async function clientHello(): Promise<Buffer> {
  const server = createServer();
  const port = await listen(server);
  const client = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false });
  client.on('error', () => undefined);
  const [accepted] = await once(server, 'connection');
  const [hello] = await once(accepted, 'data');
  client.destroy();
  server.close();
  return Buffer.from(hello);
}
