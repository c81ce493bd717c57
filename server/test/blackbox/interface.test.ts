import { STREAM_PATH } from '@svc-asr/protocol';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { walkInterface } from '@svc-asr/testing/service/blackbox.ts';
import { startService } from '@svc-asr/testing/service/service.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import { expect, test } from 'vitest';

test('independent Python clients find no deviation from the interface document', async () => {
  const { certFile, keyFile } = await makeCertificate();
  const port = String(await freePort());
  const svc = await startService({
    env: {
      PORT: port,
      TLS_CERT_FILE: certFile,
      TLS_KEY_FILE: keyFile,
      PUBLIC_STREAM_URL: `wss://localhost:${port}${STREAM_PATH}`,
    },
  });
  try {
    const { statements, deviations } = await walkInterface({
      url: `https://localhost:${port}`,
      certFile,
      db: svc.database.pool,
      databaseUrl: svc.database.url,
      pepper: svc.config.secrets.apiKeyPeppers[0].secret,
      speech: speech('kikuyu-1').pcm,
      withExpiry: false,
    });
    expect(deviations).toEqual([]);
    expect(statements).toBeGreaterThan(400);
  } finally {
    await svc.stop();
  }
});
