import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CertificateFiles } from '../src/platform/tls.ts';

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

/** Writes the certificate together with the system's authorities, and returns the file. */
export async function writeBundle(folder: string, certFile: string): Promise<string> {
  const parts = [await readFile(certFile, 'utf8')];
  for (const path of SYSTEM_BUNDLES) {
    const text = await readFile(path, 'utf8').catch(() => null);
    if (text === null) continue;
    parts.push(text);
    break;
  }
  const bundle = join(folder, 'bundle.pem');
  await writeFile(bundle, parts.join('\n'));
  return bundle;
}

async function isUsable(certFile: string): Promise<boolean> {
  const text = await readFile(certFile).catch(() => null);
  if (text === null) return false;
  return new X509Certificate(text).validToDate.getTime() > Date.now() + RENEW_BEFORE_MS;
}
