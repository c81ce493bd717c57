import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CertificateFiles } from '../src/platform/network/tls.ts';

const DAYS_VALID = 365;
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/**
 * Returns a self-signed certificate for localhost, made on the first start and kept for the next ones. The interface
 * promises `wss://` addresses, so development needs TLS too.
 */
export async function ensureCertificate(folder: string): Promise<CertificateFiles> {
  const files = { certFile: join(folder, 'cert.pem'), keyFile: join(folder, 'key.pem') };
  if (await isUsable(files.certFile)) return files;
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const subject = ['-subj', '/CN=svc-asr development', '-days', String(DAYS_VALID)];
  const names = ['-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1,IP:::1'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const output = ['-keyout', files.keyFile, '-out', files.certFile];
  const args = ['req', '-x509', ...key, ...subject, ...names, ...output];
  await promisify(execFile)('openssl', args).catch((error: unknown) => {
    throw new Error('openssl could not make a certificate. Install openssl, then retry.', {
      cause: error,
    });
  });
  return files;
}

/** Debian, Fedora and macOS. */
const SYSTEM_BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/cert.pem',
];

const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Writes the certificate together with the authorities of the system and those of `trustedFiles`, each once, and returns
 * the file. A shell that uses it instead of its own setting, such as the authority of a company's proxy, trusts all of them.
 */
export async function writeBundle(
  folder: string,
  certFile: string,
  trustedFiles: readonly string[],
): Promise<string> {
  const system = SYSTEM_BUNDLES.filter(existsSync).slice(0, 1);
  const texts = await Promise.all([
    readFile(certFile, 'utf8'),
    ...[...system, ...trustedFiles].map((path) => readFile(path, 'utf8').catch(() => '')),
  ]);
  const certificates = new Set(texts.flatMap((text) => text.match(PEM) ?? []));
  const bundle = join(folder, 'bundle.pem');
  await writeFile(bundle, `${[...certificates].join('\n')}\n`);
  return bundle;
}

async function isUsable(certFile: string): Promise<boolean> {
  const text = await readFile(certFile).catch(() => null);
  if (text === null) return false;
  return new X509Certificate(text).validToDate.getTime() > Date.now() + RENEW_BEFORE_MS;
}
