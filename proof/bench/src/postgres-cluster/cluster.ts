import { spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, cp, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { killOnExit } from '@svc-asr/local/child-process.ts';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { findPostgres, unprivilegedAccount } from '@svc-asr/local/local-postgres.ts';
import { Member } from './member.ts';
import { HostNetwork } from './network.ts';

const HAPROXY = fileURLToPath(new URL('../../../../deploy/postgres/haproxy.cfg', import.meta.url));
const PYTHON_LIBRARIES = fileURLToPath(new URL('../../../../.cache/patroni/lib/', import.meta.url));
const WHOLE_WITHIN_MS = 120_000;

/** One member as Patroni reports it. */
interface Reported {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** Three hosts with etcd, Patroni and PostgreSQL, and HAProxy in front, from the files in deploy/postgres. */
export class Cluster {
  /** Through HAProxy, as a superuser. */
  readonly url: string;
  readonly members: readonly Member[];
  readonly #network: HostNetwork;
  readonly #haproxy: ChildProcess;
  readonly #folder: string;

  private constructor(input: {
    url: string;
    members: readonly Member[];
    network: HostNetwork;
    haproxy: ChildProcess;
    folder: string;
  }) {
    this.url = input.url;
    this.members = input.members;
    this.#network = input.network;
    this.#haproxy = input.haproxy;
    this.#folder = input.folder;
  }

  /** Resolves when there is a primary with two synchronous standbys. */
  static async start(): Promise<Cluster> {
    const account = await unprivilegedAccount();
    if (account === undefined) throw new Error('Network namespaces need root. Run it as root.');
    const folder = await mkdtemp(join(tmpdir(), 'svc-cluster-'));
    await chmod(folder, 0o755);
    const patroni = await copyPatroni(folder);
    const certificate = await makeCertificate();
    const network = await HostNetwork.create(3);
    const passwords = { superuser: secret(), replication: secret(), rewind: secret() };
    const postgresBin = await findPostgres();
    const members = network.hosts.map(
      (host) =>
        new Member({
          host,
          peers: network.hosts,
          folder: join(folder, host.name),
          account,
          patroni,
          postgresBin,
          certificate,
          passwords,
        }),
    );
    const port = await freePort();
    const haproxy = startHaproxy(network, port);
    const query = `sslmode=verify-full&sslrootcert=${certificate.certFile}`;
    const url = `postgresql://postgres:${passwords.superuser}@localhost:${port}/postgres?${query}`;
    const cluster = new Cluster({ url, members, network, haproxy, folder });
    try {
      await Promise.all(members.map((member) => member.start()));
      await cluster.untilWhole();
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** The member that holds the lock, or null. */
  async primary(): Promise<Member | null> {
    for (const member of this.members) {
      const answer = await fetch(`http://${member.host.address}:8008/primary`, {
        signal: AbortSignal.timeout(1_000),
      }).catch(() => null);
      if (answer?.status === 200) return member;
    }
    return null;
  }

  /** A primary, and two standbys that commits may wait for. */
  async untilWhole(): Promise<void> {
    const deadlineMs = performance.now() + WHOLE_WITHIN_MS;
    let seen: readonly Reported[] = [];
    while (performance.now() < deadlineMs) {
      const primary = await this.primary();
      seen = primary === null ? [] : await this.#reported(primary);
      const standbys = seen.filter(
        ({ role, state }) => role === 'quorum_standby' && state === 'streaming',
      );
      if (standbys.length === this.members.length - 1) return;
      await sleep(100);
    }
    const last = this.members.flatMap(({ lines }) => lines.slice(-15));
    throw new Error(`The cluster is not whole: ${JSON.stringify(seen)}\n${last.join('\n')}`);
  }

  /** Switches the primary as planned maintenance does (`patronictl switchover`). */
  async switchOver(from: Member): Promise<void> {
    const answer = await fetch(`http://${from.host.address}:8008/switchover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ leader: from.host.name }),
    });
    if (answer.status !== 200) throw new Error(`No switchover: ${await answer.text()}`);
  }

  async stop(): Promise<void> {
    this.#haproxy.kill('SIGKILL');
    await this.#network.remove();
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #reported(from: Member): Promise<readonly Reported[]> {
    const answer = await fetch(`http://${from.host.address}:8008/cluster`, {
      signal: AbortSignal.timeout(1_000),
    }).catch(() => null);
    if (answer === null) return [];
    const { members }: { members: Reported[] } = JSON.parse(await answer.text());
    return members;
  }
}

/** PostgreSQL's account may not be able to read the checkout. */
async function copyPatroni(folder: string): Promise<string> {
  const [version] = await readdir(PYTHON_LIBRARIES).catch(() => []);
  if (version === undefined)
    throw new Error('Patroni is not installed. Run .ci/bootstrap nightly.');
  const copy = join(folder, 'python');
  await cp(join(PYTHON_LIBRARIES, version, 'site-packages'), copy, {
    recursive: true,
    filter: (path) => !/site-packages\/(pip|setuptools)/.test(path),
  });
  return copy;
}

function startHaproxy(network: HostNetwork, port: number): ChildProcess {
  const [first, second, third] = network.hosts.map(({ address }) => address);
  const haproxy = spawn('haproxy', ['-db', '-f', HAPROXY], {
    stdio: 'ignore',
    env: {
      PATH: process.env['PATH'],
      SVC_PG_BIND: `127.0.0.1:${port}`,
      SVC_PG_1: first,
      SVC_PG_2: second,
      SVC_PG_3: third,
    },
  });
  killOnExit(haproxy);
  return haproxy;
}

function secret(): string {
  return randomBytes(18).toString('hex');
}
