import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { dnsTarget, NODES_MAX, splitAddresses } from '@svc-asr/runtime/addresses.ts';

const LOOK_EVERY_MS = 5_000;

/**
 * Finds the engine nodes: `host:port[,host:port...]`, or `dns:///name:port` for all addresses of a
 * name, such as a headless Kubernetes service. Names are resolved every 5 s. While DNS fails, the last
 * result stays valid.
 */
export class Discovery {
  readonly #source: string;
  readonly #onAddresses: (addresses: ReadonlySet<string>) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(source: string, onAddresses: (addresses: ReadonlySet<string>) => void) {
    this.#source = source;
    this.#onAddresses = onAddresses;
  }

  async start(lookEveryMs = LOOK_EVERY_MS): Promise<void> {
    await this.#look();
    if (dnsTarget(this.#source) === null) return;
    this.#timer = setInterval(() => void this.#look(), lookEveryMs);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const addresses = await resolveAddresses(this.#source);
    if (addresses !== null) this.#onAddresses(addresses);
  }
}

async function resolveAddresses(source: string): Promise<ReadonlySet<string> | null> {
  const target = dnsTarget(source);
  if (target === null) return new Set(splitAddresses(source).filter((part) => part !== ''));
  const split = target.lastIndexOf(':');
  const [name, port] = [target.slice(0, split), target.slice(split + 1)];
  const found = await lookup(name, { all: true }).catch(() => null);
  if (found === null) return null;
  const addresses = found.map(
    ({ address }) => `${isIP(address) === 6 ? `[${address}]` : address}:${port}`,
  );
  return new Set(addresses.toSorted().slice(0, NODES_MAX));
}
