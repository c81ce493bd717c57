import http from 'node:http';
import type { Server } from 'node:http';
import { currentProcess, type VirtualProcess } from './process.ts';
import { Random, deriveSeed } from './random.ts';
import { scheduler } from './scheduler.ts';
import { VirtualSocket, type Path } from './socket.ts';

interface Listener {
  readonly owner: VirtualProcess;
  readonly server: Server;
}

/** An open connection, for faults. */
export interface Link {
  readonly host: string;
  readonly path: Path;
  readonly client: VirtualSocket;
  readonly server: VirtualSocket;
}

/** The network between all processes of one world. */
export class VirtualNetwork {
  readonly #seed: number;
  readonly #listeners = new Map<string, Listener>();
  readonly #links = new Set<Link>();
  readonly #delayMs: readonly [number, number];
  /** Every packet takes this much longer while the network is slow. */
  extraDelayMs = 0;
  /** Machines without power or cable. Nobody answers a connection. */
  readonly dark = new Set<string>();
  /** Processes that reach nobody. */
  readonly cutOff = new Set<VirtualProcess>();
  #connections = 0;

  constructor(input: { seed: number; delayMs: readonly [number, number] }) {
    this.#seed = input.seed;
    this.#delayMs = input.delayMs;
  }

  /** Makes this network the one that `node:http` uses for outgoing connections. */
  install(): void {
    const connect = (options: { readonly host?: string }): VirtualSocket =>
      this.#connect(options.host ?? '');
    Object.assign(http.globalAgent, { createConnection: connect });
  }

  listen(host: string, listener: Listener): void {
    this.#listeners.set(host, listener);
    listener.owner.onDeath(() => {
      if (this.#listeners.get(host) === listener) this.#listeners.delete(host);
    });
  }

  close(host: string): void {
    this.#listeners.delete(host);
  }

  /** A machine loses its power or its cable: its connections end without a word. */
  isolate(owner: VirtualProcess): void {
    for (const { client, server, path } of this.links()) {
      if (client.owner === owner || server.owner === owner) path.blockedUntilMs = Infinity;
    }
  }

  links(): Link[] {
    for (const link of this.#links) {
      if (link.client.destroyed && link.server.destroyed) this.#links.delete(link);
    }
    return [...this.#links];
  }

  /** The random delay of one message outside a connection, such as a query. */
  path(name: string): Path {
    const random = new Random(deriveSeed(this.#seed, `path ${name}`));
    const [from, to] = this.#delayMs;
    return {
      random,
      delayMs: () => random.between(from, to) + this.extraDelayMs,
      blockedUntilMs: 0,
    };
  }

  #connect(host: string): VirtualSocket {
    const owner = currentProcess();
    const path = this.path(`connection ${this.#connections++}`);
    const client = new VirtualSocket({ owner, path, remoteAddress: '10.0.0.1' });
    if (this.dark.has(host) || (owner !== undefined && this.cutOff.has(owner))) return client;
    const listener = this.#listeners.get(host);
    if (listener === undefined || listener.owner.isDead) {
      const refused = Object.assign(new Error(`connect ECONNREFUSED ${host}`), {
        code: 'ECONNREFUSED',
      });
      scheduler.deliver(owner, path.delayMs(), () => client.destroy(refused));
      return client;
    }
    const server = new VirtualSocket({ owner: listener.owner, path, remoteAddress: '10.0.0.2' });
    VirtualSocket.join(client, server);
    const link = { host, path, client, server };
    this.#links.add(link);
    const forget = [
      listener.owner.onDeath(() => this.#onDeath({ gone: server, rest: client, path })),
      owner?.onDeath(() => this.#onDeath({ gone: client, rest: server, path })),
    ];
    const onClose = (): void => {
      if (!client.destroyed || !server.destroyed) return;
      this.#links.delete(link);
      for (const one of forget) one?.();
    };
    client.once('close', onClose);
    server.once('close', onClose);
    scheduler.deliver(listener.owner, path.delayMs(), () => {
      if (client.destroyed) server.destroy();
      else listener.server.emit('connection', server);
    });
    return client;
  }

  /** The kernel of a dead process resets its connections, unless the machine is gone too. */
  #onDeath({ gone, rest, path }: Record<'gone' | 'rest', VirtualSocket> & { path: Path }): void {
    gone.vanish();
    if (path.blockedUntilMs === Infinity || rest.destroyed) return;
    scheduler.deliver(rest.owner, path.delayMs(), () => rest.destroy());
  }
}
