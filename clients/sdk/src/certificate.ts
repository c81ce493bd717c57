import { SvcError } from './errors.ts';

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

/** Returns an error for TLS certificate failures, which a retry can't fix. Null for other errors. */
export function untrustedCertificate(cause: unknown): SvcError | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (!UNTRUSTED.test(code)) return null;
  return new SvcError({
    code: 'untrusted_certificate',
    message: `The service's certificate is not trusted (${code}). Check the address, or set NODE_EXTRA_CA_CERTS.`,
    retryable: false,
    cause,
  });
}
