import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Removes the namespaces and their processes when standard input closes, which also happens if we are killed. */
const REAP = `cat >/dev/null
for ns in "$@"; do ip netns pids "$ns" | xargs -r kill -9; done
for ns in "$@"; do ip netns del "$ns"; done
ip link del "$UPLINK"`;

/**
 * Creates hosts as network namespaces on one switch, with this machine as another host. Needs root. Names and addresses
 * are unique, so that several networks can run at the same time.
 */
export class HostNetwork {
  readonly hosts: readonly Host[];
  readonly #reaper: ChildProcess;

  private constructor(hosts: readonly Host[], reaper: ChildProcess) {
    this.hosts = hosts;
    this.#reaper = reaper;
  }

  static async create(count: number): Promise<HostNetwork> {
    const id = process.pid.toString(36);
    const net = `10.${100 + (process.pid % 100)}.${(process.pid >> 7) % 250}`;
    const sw = `sw-${id}`;
    const hosts = Array.from(
      { length: count },
      (_, at) => new Host({ name: `h${at + 1}-${id}`, address: `${net}.${at + 11}`, sw }),
    );
    const uplink = `up-${id}`;
    const reaper = spawn('sh', ['-c', REAP, 'reap', sw, ...hosts.map(({ name }) => name)], {
      stdio: ['pipe', 'ignore', 'ignore'],
      env: { ...process.env, UPLINK: uplink },
      detached: true,
    });
    await ip(`netns add ${sw}`);
    await ip(`-n ${sw} link add br0 type bridge`);
    await ip(`-n ${sw} link set br0 up`);
    await ip(`link add ${uplink} type veth peer name p-${uplink} netns ${sw}`);
    await ip(`-n ${sw} link set p-${uplink} master br0 up`);
    await ip(`addr add ${net}.1/24 dev ${uplink}`);
    await ip(`link set ${uplink} up`);
    for (const host of hosts) await host.plugIn();
    return new HostNetwork(hosts, reaper);
  }

  async remove(): Promise<void> {
    this.#reaper.stdin?.end();
    await once(this.#reaper, 'exit');
  }
}

export class Host {
  readonly name: string;
  readonly address: string;
  readonly #sw: string;

  constructor(input: { name: string; address: string; sw: string }) {
    this.name = input.name;
    this.address = input.address;
    this.#sw = input.sw;
  }

  async plugIn(): Promise<void> {
    const { name } = this;
    await ip(`netns add ${name}`);
    await ip(`-n ${name} link set lo up`);
    await ip(`link add e0 netns ${name} type veth peer name p-${name} netns ${this.#sw}`);
    await ip(`-n ${this.#sw} link set p-${name} master br0 up`);
    await ip(`-n ${name} addr add ${this.address}/24 dev e0`);
    await ip(`-n ${name} link set e0 up`);
  }

  /** Takes the host's network link down or up. */
  async setLink(state: 'up' | 'down'): Promise<void> {
    await ip(`-n ${this.#sw} link set p-${this.name} ${state}`);
  }

  /** Blocks or unblocks traffic between this host and some others. All other hosts still reach it. */
  async setPathTo(others: readonly Host[], state: 'up' | 'down'): Promise<void> {
    const change = state === 'down' ? 'add' : 'del';
    for (const { address } of others) {
      await ip(`-n ${this.name} route ${change} blackhole ${address}/32`);
    }
  }

  /** Starts a program on this host. */
  spawn(command: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    return spawn('nsenter', [`--net=/run/netns/${this.name}`, ...command], {
      cwd: '/',
      env: { PATH: process.env['PATH'], LANG: 'C.UTF-8', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  }

  /** Kills every process at once, like a power failure. */
  async killAll(): Promise<void> {
    const { stdout } = await run('ip', ['netns', 'pids', this.name]);
    for (const pid of stdout.split('\n').filter(Boolean)) kill(Number(pid));
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // The process has already exited.
  }
}

async function ip(words: string): Promise<void> {
  await run('ip', words.split(' '));
}
