import { ROLE_NAME } from '@svc-asr/engine';
import { STREAM_PATH } from '@svc-asr/protocol';
import { makeCertificate } from '@svc-asr/testing/certificate.ts';
import { EngineNodeProcess, tlsEnvironment } from '@svc-asr/local/engine-node-process.ts';
import { PrivateCa } from '@svc-asr/testing/engine/private-ca.ts';
import { freePort } from '@svc-asr/local/free-port.ts';
import { walkInterface, type BlackboxReport } from '@svc-asr/testing/service/blackbox.ts';
import { speech } from '@svc-asr/testing/speech/fixtures.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet } from '../service/fleet.ts';

/** Python clients check every statement of the interface document against a production-like service over TLS. */
export const about =
  'Python clients walk the interface document section by section, against one tier and two: no deviation';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [one, two] = await Promise.all([walkOneTier(!short), walkTwoTiers(!short)]);
  for (const deviation of one.deviations) log(`one tier: ${deviation}`);
  for (const deviation of two.deviations) log(`two tiers: ${deviation}`);
  const deviations = one.deviations.length + two.deviations.length;
  return {
    passed: deviations === 0 && one.statements > 0 && two.statements > one.statements,
    figures: { statements: one.statements + two.statements, deviations },
  };
}

/** A service with its own recognisers. */
function walkOneTier(withExpiry: boolean): Promise<BlackboxReport> {
  return walk({ withExpiry });
}

/** A service with an engine node behind mutual TLS. */
async function walkTwoTiers(withExpiry: boolean): Promise<BlackboxReport> {
  const ca = await PrivateCa.create();
  const node = await EngineNodeProcess.start({ tls: await ca.issue(ROLE_NAME.engine) });
  try {
    const env = {
      ...tlsEnvironment(await ca.issue(ROLE_NAME.gateway)),
      ENGINE_ADDRESSES: node.address,
    };
    return await walk({ withExpiry, env, stopEngine: () => node.stop() });
  } finally {
    await node.stop();
    await ca.remove();
  }
}

async function walk(input: {
  withExpiry: boolean;
  env?: Readonly<Record<string, string>>;
  stopEngine?: () => Promise<void>;
}): Promise<BlackboxReport> {
  const { env, ...options } = input;
  const { certFile, keyFile } = await makeCertificate();
  const port = String(await freePort());
  const fleet = await Fleet.start();
  try {
    await fleet.launch({
      PORT: port,
      TLS_CERT_FILE: certFile,
      TLS_KEY_FILE: keyFile,
      PUBLIC_STREAM_URL: `wss://localhost:${port}${STREAM_PATH}`,
      ...env,
    });
    return await walkInterface({
      url: `https://localhost:${port}`,
      certFile,
      db: fleet.pool,
      databaseUrl: fleet.postgres.url,
      pepper: fleet.apiKeyPepper,
      speech: speech('kikuyu-1').pcm,
      ...options,
    });
  } finally {
    await fleet.stop();
  }
}
