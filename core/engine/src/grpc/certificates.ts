import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createSecureContext, type PeerCertificate } from 'node:tls';
import {
  credentials,
  experimental,
  ServerCredentials,
  type ChannelCredentials,
} from '@grpc/grpc-js';
import type { TlsFiles } from '@svc-asr/runtime/tls-files.ts';

interface Material {
  readonly certificate: Buffer;
  readonly privateKey: Buffer;
  readonly caCertificate: Buffer;
}

type CaListener = experimental.CaCertificateUpdateListener;
type IdentityListener = experimental.IdentityCertificateUpdateListener;

const LOOK_EVERY_MS = 5_000;

/**
 * Reloads certificate files when they change, so that a renewal needs no restart. A certificate that
 * doesn't match its key is ignored, because renewals write one file after the other.
 */
export class CertificateFiles implements experimental.CertificateProvider {
  readonly #files: TlsFiles;
  readonly #caListeners = new Set<CaListener>();
  readonly #identityListeners = new Set<IdentityListener>();
  readonly #timer: NodeJS.Timeout;
  #current: Material;

  /** Throws when the files cannot be used now. */
  constructor(files: TlsFiles, lookEveryMs = LOOK_EVERY_MS) {
    this.#files = files;
    this.#current = {
      certificate: readFileSync(files.certFile),
      privateKey: readFileSync(files.keyFile),
      caCertificate: readFileSync(files.caFile),
    };
    check(this.#current);
    this.#timer = setInterval(() => void this.#look(), lookEveryMs).unref();
  }

  addCaCertificateListener(listener: CaListener): void {
    this.#caListeners.add(listener);
    const { caCertificate } = this.#current;
    process.nextTick(() => listener({ caCertificate }));
  }

  removeCaCertificateListener(listener: CaListener): void {
    this.#caListeners.delete(listener);
  }

  addIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.add(listener);
    const { certificate, privateKey } = this.#current;
    process.nextTick(() => listener({ certificate, privateKey }));
  }

  removeIdentityCertificateListener(listener: IdentityListener): void {
    this.#identityListeners.delete(listener);
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #look(): Promise<void> {
    const { certFile, keyFile, caFile } = this.#files;
    try {
      const [certificate, privateKey, caCertificate] = await Promise.all(
        [certFile, keyFile, caFile].map((file) => readFile(file)),
      );
      if (!certificate || !privateKey || !caCertificate) return;
      const found = { certificate, privateKey, caCertificate };
      if (isSame(found, this.#current)) return;
      check(found);
      this.#current = found;
    } catch {
      // The next poll may find a matching pair.
      return;
    }
    const { certificate, privateKey, caCertificate } = this.#current;
    for (const listener of this.#identityListeners) listener({ certificate, privateKey });
    for (const listener of this.#caListeners) listener({ caCertificate });
  }
}

function check({ certificate, privateKey, caCertificate }: Material): void {
  createSecureContext({ cert: certificate, key: privateKey, ca: caCertificate });
}

function isSame(a: Material, b: Material): boolean {
  return (
    a.certificate.equals(b.certificate) &&
    a.privateKey.equals(b.privateKey) &&
    a.caCertificate.equals(b.caCertificate)
  );
}

/** Null: no TLS, for a single machine or an encrypted network. */
export function clientCredentials(files: CertificateFiles | null): ChannelCredentials {
  if (files === null) return credentials.createInsecure();
  return experimental.createCertificateProviderChannelCredentials(files, files);
}

export function serverCredentials(files: CertificateFiles | null): ServerCredentials {
  if (files === null) return ServerCredentials.createInsecure();
  return experimental.createCertificateProviderServerCredentials(files, files, true);
}

/** Whether the certificate was issued for that role. Its chain is checked before this. */
export function hasName(certificate: PeerCertificate | undefined, name: string): boolean {
  const names = (certificate?.subjectaltname ?? '').split(', ');
  return names.includes(`DNS:${name}`);
}
