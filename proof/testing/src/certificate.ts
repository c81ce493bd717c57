import { execFile } from 'node:child_process';
import { rmSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export interface TestCertificate {
  readonly certFile: string;
  readonly keyFile: string;
  /** Both in one file, as HAProxy requires. */
  readonly pemFile: string;
  readonly cert: Buffer;
}

/** A self-signed certificate for this machine. */
export async function makeCertificate(commonName = 'localhost'): Promise<TestCertificate> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-cert-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const certFile = join(folder, 'cert.pem');
  const keyFile = join(folder, 'key.pem');
  const pemFile = join(folder, 'both.pem');
  const subject = `-subj /CN=${commonName} -addext subjectAltName=DNS:localhost,IP:127.0.0.1`;
  const files = `-keyout ${keyFile} -out ${certFile}`;
  const kind = '-x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2';
  await promisify(execFile)('openssl', `req ${kind} ${subject} ${files}`.split(' '));
  const [cert, key] = await Promise.all([readFile(certFile), readFile(keyFile)]);
  await writeFile(pemFile, Buffer.concat([cert, key]), { mode: 0o600 });
  return { certFile, keyFile, pemFile, cert };
}
