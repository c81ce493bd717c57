import { connect, createServer, type Socket } from 'node:net';

/** Stands between a service and its real database, so that a test can take the database away and give it back. */
export interface DatabaseProxy {
  readonly url: string;
  /** `cut`: connections break and new ones are refused. `silent`: everything hangs, nothing is answered. */
  set(state: 'open' | 'cut' | 'silent'): void;
  close(): Promise<void>;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let state: 'open' | 'cut' | 'silent' = 'open';
  const server = createServer((client) => {
    if (state === 'cut') return client.destroy();
    const upstream = connect(Number(target.port || 5432), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on('data', (bytes) => state === 'open' && upstream.write(bytes));
    upstream.on('data', (bytes) => state === 'open' && client.write(bytes));
    return undefined;
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  function destroyAll(): void {
    for (const socket of sockets) socket.destroy();
  }
  return {
    url: url.href,
    set(next) {
      // What hung while silent has lost bytes: such a connection cannot go on.
      if (next === 'cut' || state === 'silent') destroyAll();
      state = next;
    },
    close() {
      destroyAll();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
