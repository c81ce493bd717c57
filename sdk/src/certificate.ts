import { SvcError } from './errors.ts';

const UNTRUSTED = /CERT|SELF_SIGNED|UNABLE_TO_(GET|VERIFY)/;

/** A certificate that is not trusted now will not be trusted next time. Null: it was something else. */
export function untrustedCertificate(cause: unknown): SvcError | null {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : '';
  if (!UNTRUSTED.test(code)) return null;
  return new SvcError({
    code: 'untrusted_certificate',
    message: `The service's certificate is not trusted here (${code}). Check the address, or NODE_EXTRA_CA_CERTS.`,
    retryable: false,
    cause,
  });
}
