import { X509Certificate } from 'node:crypto';
import { watchFile, unwatchFile } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Server as HttpServer } from 'node:http';
import { Server as HttpsServer } from 'node:https';
import type { Log } from '../observe/log.ts';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface Certificate {
  readonly cert: Buffer;
  readonly key: Buffer;
}

/** Poll interval. File-system events miss some ways of replacing files. */
const POLL_MS = 5_000;

export function expiresAtMs({ cert }: Certificate): number {
  return new X509Certificate(cert).validToDate.getTime();
}

export async function readCertificate(files: CertificateFiles | null): Promise<Certificate | null> {
  if (files === null) return null;
  const [cert, key] = await Promise.all([readFile(files.certFile), readFile(files.keyFile)]);
  return { cert, key };
}

/**
 * Reloads a renewed certificate without a restart, when its files change or on SIGHUP. Open connections
 * keep the old one. A certificate that doesn't match its key is ignored. So are files with the same content: Kubernetes
 * touches those of a secret every minute.
 */
export function watchCertificate(
  server: HttpServer,
  {
    files: tls,
    loaded,
    log,
    onLoaded,
  }: {
    files: CertificateFiles | null;
    /** What the server uses now. */
    loaded: Certificate | null;
    log: Log;
    onLoaded?: (certificate: Certificate) => void;
  },
): () => Promise<void> {
  if (tls === null || !(server instanceof HttpsServer)) return async () => {};
  const secure: HttpsServer = server;
  let current = loaded;
  let reloading = Promise.resolve();

  async function reload(): Promise<void> {
    try {
      const certificate = await readCertificate(tls);
      if (certificate === null || isSame(certificate, current)) return;
      secure.setSecureContext(certificate);
      current = certificate;
      onLoaded?.(certificate);
      log.info('The certificate was reloaded.');
    } catch (error) {
      log.error({ err: error }, 'The certificate could not be loaded. The old one stays in use.');
    }
  }
  const again = (): void => {
    reloading = reloading.then(reload);
  };
  const watched = [tls.certFile, tls.keyFile];
  for (const file of watched) watchFile(file, { interval: POLL_MS, persistent: false }, again);
  process.on('SIGHUP', again);
  return async () => {
    for (const file of watched) unwatchFile(file, again);
    process.off('SIGHUP', again);
    await reloading;
  };
}

function isSame(a: Certificate, b: Certificate | null): boolean {
  return b !== null && a.cert.equals(b.cert) && a.key.equals(b.key);
}
