import { OtlpReceiver } from '@svc-asr/testing/otlp-receiver.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { Fleet, type Tenant } from '../service/fleet.ts';
import { MEASURED, metric } from '../service/metrics.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Measures the cost of tracing a request. */
export const about = 'CPU time of a request with traces on, beside traces off';

const AT_ONCE = 8;
/** With one trace in ten sampled. */
const RATIO_TENTH_MAX = 1.1;

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const requests = short ? 1_500 : 10_000;
  const rounds = short ? 2 : 4;
  const receiver = await OtlpReceiver.start();
  const fleet = await Fleet.start();
  try {
    const [tenant] = await fleet.addTenants(1, 60_000);
    if (tenant === undefined) throw new Error('no tenant');
    const shared = { ROLE: 'api', ...MEASURED };
    const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url };
    const off = await fleet.launch(shared);
    const on = await fleet.launch({ ...shared, ...endpoint });
    const tenth = await fleet.launch({ ...shared, ...endpoint, OTEL_TRACES_SAMPLER_ARG: '0.1' });
    const totals = { off: 0, on: 0, tenth: 0 };
    for (const service of [off, on, tenth]) await measure(service, tenant, requests);
    for (let round = 0; round < rounds; round += 1) {
      totals.off += await measure(off, tenant, requests);
      totals.on += await measure(on, tenant, requests);
      totals.tenth += await measure(tenth, tenant, requests);
    }
    const perRequest = (cpuS: number): number => Math.round((cpuS * 1e6) / (rounds * requests));
    const ratio = (cpuS: number): number => Math.round((cpuS / totals.off) * 100) / 100;
    const figures = {
      off_us_per_request: perRequest(totals.off),
      on_us_per_request: perRequest(totals.on),
      ratio: ratio(totals.on),
      ratio_tenth: ratio(totals.tenth),
      spans: receiver.spans.length,
    };
    log(`GET /v1/usage: ${JSON.stringify(figures)}`);
    return { passed: figures.ratio_tenth <= RATIO_TENTH_MAX && figures.spans > requests, figures };
  } finally {
    await fleet.stop();
    await receiver.stop();
  }
}

/** Returns the CPU seconds that the process uses to serve `requests` requests. */
async function measure(service: ServiceProcess, tenant: Tenant, requests: number): Promise<number> {
  const headers = { authorization: `Bearer ${tenant.apiKey}` };
  const before = await metric(service, 'svc_cpu_seconds');
  let left = requests;
  async function work(): Promise<void> {
    while (left > 0) {
      left -= 1;
      const response = await fetch(`${service.url}/v1/usage`, { headers });
      if (response.status !== 200) throw new Error(`status ${response.status}`);
      await response.arrayBuffer();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return (await metric(service, 'svc_cpu_seconds')) - before;
}
