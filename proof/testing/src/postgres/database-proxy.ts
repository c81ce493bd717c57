import { connect, createServer, type Socket } from 'node:net';
import { listen } from '@svc-asr/runtime/listen.ts';

type State = 'open' | 'cut' | 'silent';

/** A proxy between a service and its database, with which a test can simulate outages. */
export interface DatabaseProxy {
  readonly url: string;
  /**
   * `cut`: connections break and new ones are refused. `silent`: everything hangs, nothing is answered.
   * With a name, affects only connections whose application name starts with it.
   */
  set(state: State, applicationName?: string): void;
  close(): Promise<void>;
}

interface Connection {
  /** The client's first message, which has the application name. */
  hello: Buffer;
  destroy(): void;
}

export async function startDatabaseProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const connections = new Set<Connection>();
  let state: State = 'open';
  let onlyNamed = '';
  const stateOf = ({ hello }: Connection): State => (hello.includes(onlyNamed) ? state : 'open');

  function relay(client: Socket): void {
    const upstream = connect(Number(target.port || 5432), target.hostname);
    const connection: Connection = {
      hello: Buffer.alloc(0),
      destroy() {
        client.destroy();
        upstream.destroy();
      },
    };
    connections.add(connection);
    for (const socket of [client, upstream]) {
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        connections.delete(connection);
        connection.destroy();
      });
    }
    client.on('data', (bytes) => {
      if (connection.hello.length === 0) connection.hello = bytes;
      if (stateOf(connection) === 'cut') connection.destroy();
      if (stateOf(connection) === 'open') upstream.write(bytes);
    });
    upstream.on('data', (bytes) => stateOf(connection) === 'open' && client.write(bytes));
  }
  const server = createServer((client) => {
    if (state === 'cut' && onlyNamed === '') client.destroy();
    else relay(client);
  });
  const port = await listen(server);
  const url = new URL(databaseUrl);
  url.host = `127.0.0.1:${port}`;
  function destroyDisturbed(): void {
    for (const connection of connections) {
      if (stateOf(connection) !== 'open') connection.destroy();
    }
  }
  return {
    url: url.href,
    set(next, applicationName = '') {
      // A connection that was silent has lost bytes and cannot continue.
      destroyDisturbed();
      state = next;
      onlyNamed = applicationName;
      if (next === 'cut') destroyDisturbed();
    },
    close() {
      for (const connection of connections) connection.destroy();
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
