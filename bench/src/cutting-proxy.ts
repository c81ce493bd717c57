import { connect, createServer, type Socket } from 'node:net';
import { listen } from '@svc-asr/protocol/listen.ts';

/**
 * When a connection is cut: before the statement is sent (it never runs), right after it is sent (the
 * outcome is unknown), or before its response arrives (it ran, but the client doesn't know).
 */
export type Cut = 'before-request' | 'after-request' | 'at-answer';

export interface CuttingProxy {
  readonly port: number;
  /**
   * Cuts the next statements, one for each entry. Later statements pass unchanged.
   */
  cutNext(...cuts: readonly Cut[]): void;
  /** Discards cuts that did not happen. */
  calm(): void;
  cuts(): number;
  stop(): Promise<void>;
}

/** A proxy between a client and PostgreSQL that cuts connections on demand. */
export async function startCuttingProxy(target: { port: number }): Promise<CuttingProxy> {
  let planned: Cut[] = [];
  let cuts = 0;
  const open = new Set<Socket>();

  const server = createServer((client) => {
    const upstream = connect(target.port, '127.0.0.1');
    let ready = false;
    let dropAnswer = false;
    const end = () => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.setNoDelay(true);
      socket.on('error', end);
      socket.on('close', () => {
        open.delete(socket);
        end();
      });
    }
    client.on('data', (chunk) => {
      const cut = ready ? planned.shift() : undefined;
      if (cut !== undefined) cuts += 1;
      if (cut === 'before-request') return end();
      if (cut === 'at-answer') dropAnswer = true;
      upstream.write(chunk, () => {
        if (cut === 'after-request') end();
      });
    });
    upstream.on('data', (chunk) => {
      if (dropAnswer) return end();
      // Authentication ends with the first ReadyForQuery: six bytes, 'Z', length 5, idle.
      ready ||= chunk.subarray(-6).equals(READY_FOR_QUERY);
      client.write(chunk);
    });
  });
  const port = await listen(server);
  return {
    port,
    cutNext: (...next) => void (planned = [...next]),
    calm: () => void (planned = []),
    cuts: () => cuts,
    async stop() {
      for (const socket of open) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

const READY_FOR_QUERY = Buffer.from([0x5a, 0, 0, 0, 5, 0x49]);
