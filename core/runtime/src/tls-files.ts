import type { EnvironmentReader } from './environment.ts';

/** Files with the certificate of this process and the CA of its peers. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
  readonly caFile: string;
}

/** Reads the three files of mutual TLS between gateways and engine nodes: all or none. */
export function readTlsFiles({ env, problems }: EnvironmentReader): TlsFiles | null {
  const certFile = env['ENGINE_TLS_CERT_FILE'];
  const keyFile = env['ENGINE_TLS_KEY_FILE'];
  const caFile = env['ENGINE_TLS_CA_FILE'];
  if (certFile && keyFile && caFile) return { certFile, keyFile, caFile };
  if (certFile || keyFile || caFile) {
    problems.push(
      'ENGINE_TLS_CERT_FILE, ENGINE_TLS_KEY_FILE and ENGINE_TLS_CA_FILE must be set together',
    );
  }
  return null;
}
