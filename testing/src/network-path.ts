import { connect, createServer, type Socket } from 'node:net';
import { listen } from '@svc-asr/protocol/listen.ts';

/** A TCP relay on which a test can simulate a dead or stalled network. */
export interface NetworkPath {
  readonly port: number;
  /** From now on nothing arrives on either side, new connections included. Nothing is closed. */
  cut(): void;
  /** Bytes held back by `cut()` arrive now. */
  heal(): void;
  close(): Promise<void>;
}

export async function startNetworkPath(targetPort: number): Promise<NetworkPath> {
  const sockets = new Set<Socket>();
  let isCut = false;
  const server = createServer({ pauseOnConnect: true }, (client) => {
    const upstream = connect(targetPort, '127.0.0.1');
    for (const [from, to] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(from);
      from.on('error', () => from.destroy());
      from.on('data', (bytes: Buffer) => to.write(bytes));
      from.on('close', () => {
        sockets.delete(from);
        if (!isCut) to.destroy();
      });
      if (isCut) from.pause();
      else from.resume();
    }
  });
  const port = await listen(server);
  return {
    port,
    cut() {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    heal() {
      isCut = false;
      for (const socket of sockets) socket.resume();
    },
    close() {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
