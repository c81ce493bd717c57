import { lookup } from 'node:dns/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { listen } from '@svc-asr/runtime/listen.ts';
import { guardSocket } from '@svc-asr/runtime/server-guard.ts';

export interface MissedAddress {
  readonly address: string;
  readonly problem: string;
}

interface OpenPort {
  readonly port: number;
  readonly missed: readonly MissedAddress[];
  close(): Promise<void>;
}

/** Returns the port and every address of a host, such as both of localhost. */
export async function addressesOf(
  address: string,
): Promise<{ readonly hosts: readonly string[]; readonly port: number }> {
  const end = address.lastIndexOf(':');
  const host = address.slice(0, end).replace(/^\[|\]$/g, '');
  const found = await lookup(host, { all: true });
  return { hosts: found.map((each) => each.address), port: Number(address.slice(end + 1)) };
}

/** Listens on the same port of all hosts, or of those that it can. Throws if there are none. */
export async function openPort(
  { hosts, port: wanted }: { readonly hosts: readonly string[]; readonly port: number },
  onConnection: (socket: Socket) => void,
): Promise<OpenPort> {
  let port = wanted;
  const servers: Server[] = [];
  const missed: MissedAddress[] = [];
  for (const host of hosts) {
    const server = createServer({ noDelay: true }, (socket) => {
      guardSocket(socket);
      onConnection(socket);
    });
    try {
      port = await listen(server, port, host);
      servers.push(server);
    } catch (error) {
      missed.push({ address: host, problem: String(error) });
    }
  }
  if (servers.length === 0) {
    const problems = missed.map(({ problem }) => problem).join('; ');
    throw new Error(`The engine node cannot listen on port ${port}: ${problems}`);
  }
  return {
    port,
    missed,
    async close() {
      // Resolves when the last connection has ended.
      await Promise.all(
        servers.map((server) => new Promise<void>((done) => server.close(() => done()))),
      );
    },
  };
}
