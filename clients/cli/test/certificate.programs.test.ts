import { STREAM_PATH } from '@svc-asr/protocol';
import { SvcClient } from '@svc-asr/sdk';
import { openStream } from '@svc-asr/sdk/stream';
import { makeCertificate, type TestCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { startService, type Service } from '@svc-asr/testing/service/service.ts';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runSvc } from './svc.ts';

/** The service with a self-signed certificate. */
let service: Service;
let certificate: TestCertificate;
let baseUrl: string;
beforeAll(async () => {
  certificate = await makeCertificate();
  const port = String(await freePort());
  baseUrl = `https://localhost:${port}`;
  service = await startService({
    env: {
      PORT: port,
      HOST: 'localhost',
      PUBLIC_STREAM_URL: `wss://localhost:${port}${STREAM_PATH}`,
      TLS_CERT_FILE: certificate.certFile,
      TLS_KEY_FILE: certificate.keyFile,
    },
  });
});
afterAll(() => service.stop());

function svc(args: readonly string[], trust: NodeJS.ProcessEnv = {}) {
  const env = { SVC_BASE_URL: baseUrl, SVC_API_KEY: service.apiKey, SVC_CONFIG: '/none', ...trust };
  return runSvc(args, { env });
}

const UNTRUSTED = { code: 'untrusted_certificate', retryable: false } as const;

test('an HTTP request fails at once, without retries, if the certificate is not trusted', async () => {
  const client = new SvcClient({ baseUrl, apiKey: service.apiKey });
  await expect(client.models.list()).rejects.toMatchObject(UNTRUSTED);
});

test('a stream fails at once too, and NODE_EXTRA_CA_CERTS makes it work', async () => {
  const { code, out } = await svc(['session', '-l', 'ki', '-s', '1'], {
    NODE_EXTRA_CA_CERTS: certificate.certFile,
  });
  expect(code).toBe(0);
  const stream = openStream({ session: JSON.parse(out) });
  expect(await stream.closed).toMatchObject({
    code: 1006,
    reason: UNTRUSTED.code,
    retryable: UNTRUSTED.retryable,
  });
  await expect(stream.finish()).rejects.toMatchObject(UNTRUSTED);
});

test('svc says what to do about an untrusted certificate', async () => {
  const models = await svc(['models']);
  expect(models.code).toBe(1);
  expect(models.err).toMatch(/certificate is not trusted \(\w+\).*NODE_EXTRA_CA_CERTS/);
  const doctor = await svc(['doctor']);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(/✗ network .*certificate.*\n.*NODE_EXTRA_CA_CERTS/);
});
