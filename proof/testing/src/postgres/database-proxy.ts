import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

type State = 'open' | 'cut' | 'silent';

/**
 * A proxy between a service and its database, with which a test can simulate outages. It listens on a socket file
 * that only this account can reach, because the database may ask for no password.
 */
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
  const { hostname, port, searchParams } = new URL(databaseUrl);
  const number = port || '5432';
  const socketDir = searchParams.get('host');
  const target =
    socketDir === null
      ? { host: hostname, port: Number(number) }
      : { path: join(socketDir, `.s.PGSQL.${number}`) };
  const connections = new Set<Connection>();
  let state: State = 'open';
  let onlyNamed = '';
  const stateOf = ({ hello }: Connection): State => (hello.includes(onlyNamed) ? state : 'open');

  function relay(client: Socket): void {
    const upstream = connect(target);
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
  const folder = await mkdtemp(join(tmpdir(), 'svc-database-proxy-'));
  await once(server.listen(join(folder, `.s.PGSQL.${number}`)), 'listening');
  const url = new URL(databaseUrl);
  url.searchParams.set('host', folder);
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
    async close() {
      for (const connection of connections) connection.destroy();
      server.close();
      await once(server, 'close');
      await rm(folder, { recursive: true });
    },
  };
}
