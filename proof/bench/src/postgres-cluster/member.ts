import type { ChildProcess } from 'node:child_process';
import { chown, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { TestCertificate } from '@svc-asr/testing/certificate.ts';
import type { Host } from './network.ts';

const CONFIG = fileURLToPath(new URL('../../../../deploy/postgres/patroni.yml', import.meta.url));
const SYSTEM_FOLDERS = /\/etc\/patroni|\/var\/run\/postgresql/g;
/** The system's Python. PostgreSQL's account may not be able to read another one. */
const PYTHON = '/usr/bin/python3';

export interface MemberInput {
  readonly host: Host;
  readonly peers: readonly Host[];
  readonly folder: string;
  readonly account: { readonly uid: number; readonly gid: number };
  /** PYTHONPATH of Patroni. */
  readonly patroni: string;
  readonly postgresBin: string;
  readonly certificate: TestCertificate;
  readonly passwords: Readonly<Record<'superuser' | 'replication' | 'rewind', string>>;
}

/** One database host: etcd, Patroni and the PostgreSQL that Patroni runs. */
export class Member {
  readonly host: Host;
  readonly #input: MemberInput;
  /** The last log lines of Patroni, for error messages. */
  readonly lines: string[] = [];
  #patroni: ChildProcess | null = null;

  constructor(input: MemberInput) {
    this.#input = input;
    this.host = input.host;
  }

  async start(): Promise<void> {
    await this.#writeFiles();
    this.#run(['etcd', '--logger=zap', '--log-level=error'], this.#etcdEnvironment());
    this.#patroni = this.#run(
      [PYTHON, '-m', 'patroni', join(this.#input.folder, 'patroni.yml')],
      this.#patroniEnvironment(),
    );
  }

  /** Sends SIGKILL to PostgreSQL. Patroni keeps running. */
  async killPostmaster(): Promise<void> {
    const note = await readFile(join(this.#input.folder, 'data/postmaster.pid'), 'utf8');
    process.kill(Number(note.split('\n')[0]), 'SIGKILL');
  }

  /** Stops or continues Patroni (SIGSTOP, SIGCONT). PostgreSQL keeps running. */
  signalPatroni(signal: 'SIGSTOP' | 'SIGCONT'): void {
    this.#patroni?.kill(signal);
  }

  /** Writes the bundled configuration with our folder instead of the system's. */
  async #writeFiles(): Promise<void> {
    const { folder, account, certificate } = this.#input;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const config = (await readFile(CONFIG, 'utf8')).replaceAll(SYSTEM_FOLDERS, folder);
    await writeFile(join(folder, 'patroni.yml'), config);
    await copyFile(certificate.certFile, join(folder, 'ca.crt'));
    await copyFile(certificate.certFile, join(folder, 'server.crt'));
    await copyFile(certificate.keyFile, join(folder, 'server.key'));
    for (const name of ['', 'patroni.yml', 'ca.crt', 'server.crt', 'server.key']) {
      await chown(join(folder, name), account.uid, account.gid);
    }
  }

  #run(command: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const { uid, gid } = this.#input.account;
    const unprivileged = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'];
    const child = this.host.spawn([...unprivileged, ...command], env);
    for (const stream of [child.stdout, child.stderr]) {
      if (stream === null) continue;
      createInterface({ input: stream }).on('line', (line) => {
        this.lines.push(line);
        if (this.lines.length > 200) this.lines.shift();
      });
    }
    return child;
  }

  #etcdEnvironment(): Record<string, string> {
    const { host, peers, folder } = this.#input;
    const url = (port: number, { address } = host): string => `http://${address}:${port}`;
    return {
      ETCD_NAME: host.name,
      ETCD_DATA_DIR: join(folder, 'etcd'),
      ETCD_LISTEN_PEER_URLS: url(2380),
      ETCD_LISTEN_CLIENT_URLS: url(2379),
      ETCD_INITIAL_ADVERTISE_PEER_URLS: url(2380),
      ETCD_ADVERTISE_CLIENT_URLS: url(2379),
      ETCD_INITIAL_CLUSTER: peers.map((peer) => `${peer.name}=${url(2380, peer)}`).join(','),
      ETCD_INITIAL_CLUSTER_STATE: 'new',
      ETCD_INITIAL_CLUSTER_TOKEN: 'svc',
    };
  }

  #patroniEnvironment(): Record<string, string> {
    const { host, peers, folder, passwords } = this.#input;
    return {
      PYTHONPATH: this.#input.patroni,
      PATRONI_NAME: host.name,
      PATRONI_RESTAPI_LISTEN: `${host.address}:8008`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${host.address}:8008`,
      PATRONI_ETCD3_HOSTS: peers.map(({ address }) => `'${address}:2379'`).join(','),
      PATRONI_POSTGRESQL_LISTEN: `${host.address}:5432`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${host.address}:5432`,
      PATRONI_POSTGRESQL_DATA_DIR: join(folder, 'data'),
      PATRONI_POSTGRESQL_BIN_DIR: this.#input.postgresBin,
      PATRONI_POSTGRESQL_PGPASS: join(folder, 'pgpass'),
      PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
      PATRONI_REPLICATION_PASSWORD: passwords.replication,
      PATRONI_REWIND_PASSWORD: passwords.rewind,
    };
  }
}
