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
  'Python clients walk the interface document section by section, against one tier and two (short: one): no deviation';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const walks = short ? [walkOneTier(false)] : [walkOneTier(true), walkTwoTiers(true)];
  const [one, two] = await Promise.all(walks);
  const reports = [one, two].filter((report) => report !== undefined);
  const deviations = reports.flatMap((report) => report.deviations);
  for (const deviation of deviations) log(deviation);
  const statements = reports.reduce((sum, report) => sum + report.statements, 0);
  return {
    passed: deviations.length === 0 && isComplete(one?.statements, two?.statements),
    figures: { statements, deviations: deviations.length },
  };
}

/** Two tiers have statements of their own. */
function isComplete(one = 0, two = one + 1): boolean {
  return one > 400 && two > one;
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
    return await walk({
      withExpiry,
      env,
      recognisers: () => node.children(),
      stopEngine: () => node.stop(),
    });
  } finally {
    await node.stop();
    await ca.remove();
  }
}

async function walk(input: {
  withExpiry: boolean;
  env?: Readonly<Record<string, string>>;
  recognisers?: () => readonly number[];
  stopEngine?: () => Promise<void>;
}): Promise<BlackboxReport> {
  const { env, ...options } = input;
  const { certFile, keyFile } = await makeCertificate();
  const port = String(await freePort());
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch({
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
      recognisers: () => service.children(),
      ...options,
    });
  } finally {
    await fleet.stop();
  }
}
