import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { TlsFiles } from '@svc-asr/engine';

/** A certificate authority in a temporary folder, for mutual TLS between gateways and engine nodes. */
export class PrivateCa {
  readonly #folder: string;
  #issued = 0;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async create(): Promise<PrivateCa> {
    const folder = await mkdtemp(join(tmpdir(), 'svc-ca-'));
    await openssl(folder, [
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2',
      '-subj /CN=svc-asr-test-ca -keyout ca.key -out ca.crt',
    ]);
    return new PrivateCa(folder);
  }

  /** The files of one process whose certificate has this name. */
  async issue(name: string): Promise<TlsFiles> {
    const id = `${name}-${(this.#issued += 1)}`;
    await writeFile(join(this.#folder, `${id}.ext`), `subjectAltName=DNS:${name}\n`);
    await openssl(this.#folder, [
      'req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes',
      `-subj /CN=${name} -keyout ${id}.key -out ${id}.csr`,
    ]);
    await openssl(this.#folder, [
      `x509 -req -in ${id}.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 1`,
      `-extfile ${id}.ext -out ${id}.crt`,
    ]);
    return {
      certFile: join(this.#folder, `${id}.crt`),
      keyFile: join(this.#folder, `${id}.key`),
      caFile: join(this.#folder, 'ca.crt'),
    };
  }

  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }
}

async function openssl(folder: string, words: readonly string[]): Promise<void> {
  await promisify(execFile)('openssl', words.join(' ').split(' '), { cwd: folder });
}
