import { STREAM_PATH } from '@svc-asr/protocol';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { freePort } from '@svc-asr/testing/free-port.ts';
import { walkInterface } from '@svc-asr/testing/service/blackbox.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { Campaign } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';

/** Python clients check every statement of the interface document against a production-like service over TLS. */
export const campaign: Campaign = {
  about: 'Python clients walk the interface document section by section: no deviation',
  async run({ short, log }) {
    const { certFile, keyFile } = await makeCertificate();
    const port = String(await freePort());
    const fleet = await Fleet.start();
    try {
      await fleet.launch({
        PORT: port,
        TLS_CERT_FILE: certFile,
        TLS_KEY_FILE: keyFile,
        PUBLIC_STREAM_URL: `wss://localhost:${port}${STREAM_PATH}`,
      });
      const { statements, deviations } = await walkInterface({
        url: `https://localhost:${port}`,
        certFile,
        db: fleet.pool,
        config: { apiKeyPepper: fleet.apiKeyPepper },
        speech: speech('kikuyu-1').pcm,
        withExpiry: !short,
      });
      for (const deviation of deviations) log(deviation);
      return {
        passed: deviations.length === 0 && statements > 0,
        figures: { statements, deviations: deviations.length },
      };
    } finally {
      await fleet.stop();
    }
  },
};
