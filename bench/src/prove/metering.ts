import { mapConcurrently } from '@svc-asr/eval/concurrency.ts';
import { LIMITS } from '@svc-asr/protocol';
import * as fc from 'fast-check';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { numbers } from '../service/concurrency.ts';
import { Fleet, usageOf, type Tenant } from '../service/fleet.ts';
import { Call } from '../service/call.ts';
import type { ServiceProcess } from '@svc-asr/testing/service/service-process.ts';

/** Sends random frames through the whole service. The charge must match the length of the concatenated bytes. */
const MODEL = 'svc-asr-kikuyu-v1';
const EDGES = [0, 1, 2, 3, 31_998, 31_999, 32_000, 32_001, 32_002, 64_000, 65_535, 65_536];

type Plan = readonly ({ readonly bytes: number } | 'flush' | 'reset')[];

export const about = 'random frames against an oracle: charges are exact to the sample';

export async function run({ short, log }: CampaignOptions): Promise<CampaignResult> {
  const [plans, accounts] = short ? [60, 4] : [10_000, 16];
  const fleet = await Fleet.start();
  try {
    const service = await fleet.launch();
    const tenants = await fleet.addTenants(accounts, 2_000_000_000);
    const tally = { plans: 0, samples: 0, cut_at_limit: 0, violations: 0 };
    await mapConcurrently(tenants, accounts, async (tenant, at) => {
      const mine = fc.sample(planOf(), { numRuns: Math.ceil(plans / accounts), seed: 1_000 + at });
      let billedMs = 0;
      for (const plan of mine) {
        billedMs = await check({ service, tenant, plan, billedMs, tally, log });
        tally.plans += 1;
        if (tally.plans % 1_000 === 0) log(`${tally.plans} plans, ${tally.violations} violations`);
      }
    });
    return { passed: tally.violations === 0 && tally.cut_at_limit > 0, figures: tally };
  } finally {
    await fleet.stop();
  }
}

function planOf(): fc.Arbitrary<Plan> {
  const bytes = fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(...EDGES) },
    { weight: 3, arbitrary: fc.integer({ min: 0, max: 8_000 }) },
  );
  const frame = fc.record({ bytes });
  return fc
    .array(
      fc.oneof(
        { weight: 8, arbitrary: frame },
        { weight: 1, arbitrary: fc.constant('flush' as const) },
        { weight: 1, arbitrary: fc.constant('reset' as const) },
      ),
      { maxLength: 10 },
    )
    .filter((plan) => plan.filter((step) => step === 'flush').length < LIMITS.flushesPerSecond);
}

/** Counts whole samples between resets, up to the reservation. */
function expectedSamples(plan: Plan, limitSamples: number): number {
  let samples = 0;
  let bytes = 0;
  for (const step of [...plan, 'end' as const]) {
    if (typeof step === 'object') bytes += step.bytes;
    if (step !== 'reset' && step !== 'end') continue;
    samples = Math.min(limitSamples, samples + (bytes >> 1));
    bytes = 0;
  }
  return samples;
}

async function check(input: {
  service: ServiceProcess;
  tenant: Tenant;
  plan: Plan;
  billedMs: number;
  tally: { samples: number; cut_at_limit: number; violations: number };
  log: (line: string) => void;
}): Promise<number> {
  const { service, tenant, plan, tally } = input;
  const seconds = 1 + (plan.length % 5);
  const { client } = await Call.open(service, tenant, {
    model: MODEL,
    max_audio_seconds: seconds,
  });
  for (const step of plan) {
    if (client.socket.readyState !== client.socket.OPEN) break;
    if (typeof step === 'object') client.send(noise(step.bytes));
    else client.say({ type: step });
  }
  // The last final is the receipt, whether a flush or the limit caused it.
  const finals = plan.filter((step) => step === 'flush').length;
  client.say({ type: 'flush' });
  const closing = client
    .next('final', finals + 1)
    .then(() => client.close())
    .catch(() => null);
  await Promise.all([closing, client.closed]);
  const samples = expectedSamples(plan, seconds * 16_000);
  const bill = Math.ceil(samples / 16_000) * 1000;
  const usage = await usageOf(service.url, tenant);
  const receipt = client.ofType('final').at(-1);
  const shown = usage.recent_sessions[0];
  const right =
    usage.consumed_ms - input.billedMs === bill &&
    shown?.audio_ms === Math.ceil(samples / 16) &&
    shown.billable_ms === bill &&
    receipt?.billable_ms === bill &&
    receipt.total_audio_ms === Math.ceil(samples / 16);
  if (!right) {
    tally.violations += 1;
    input.log(`violation: ${JSON.stringify({ plan, seconds, bill, samples, shown, receipt })}`);
  }
  tally.samples += samples;
  if (samples === seconds * 16_000) tally.cut_at_limit += 1;
  return usage.consumed_ms;
}

const NOISE = Buffer.from(numbers(70_000).map((at) => (at * 37 + 11) % 251));

function noise(bytes: number): Buffer {
  return NOISE.subarray(0, bytes);
}
