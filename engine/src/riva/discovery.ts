import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';

const LOOK_EVERY_MS = 5_000;
/** Each costs two connections and a heartbeat. */
const NODES_MAX = 256;
const PORT_MAX = 65_535;
const DNS_PREFIX = 'dns:///';

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
    if (!this.#source.startsWith(DNS_PREFIX)) return;
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
  if (!source.startsWith(DNS_PREFIX)) {
    return new Set(
      source
        .split(',')
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    );
  }
  const target = source.slice(DNS_PREFIX.length);
  const split = target.lastIndexOf(':');
  const [name, port] = [target.slice(0, split), target.slice(split + 1)];
  const found = await lookup(name, { all: true }).catch(() => null);
  if (found === null) return null;
  const addresses = found.map(
    ({ address }) => `${isIP(address) === 6 ? `[${address}]` : address}:${port}`,
  );
  return new Set(addresses.toSorted().slice(0, NODES_MAX));
}

/** Returns the problem with the setting, or null. */
export function addressProblem(source: string): string | null {
  const parts = source.startsWith(DNS_PREFIX)
    ? [source.slice(DNS_PREFIX.length)]
    : source.split(',').map((part) => part.trim());
  if (parts.length > NODES_MAX) return `must have at most ${NODES_MAX} addresses`;
  const isFine = parts.every(
    (part) =>
      /^(\[[0-9a-f:]+\]|[^\s:/]+):\d{1,5}$/i.test(part) &&
      Number(part.slice(part.lastIndexOf(':') + 1)) <= PORT_MAX,
  );
  return isFine ? null : 'must be HOST:PORT[,HOST:PORT...] or dns:///NAME:PORT';
}
