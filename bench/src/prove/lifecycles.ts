import { findViolations } from '@svc-asr/server/ledger/audit.ts';
import * as fc from 'fast-check';
import { Divergence, startWalk } from '@svc-asr/testing/ledger/random-walk.ts';
import { stepArbitrary } from '@svc-asr/testing/ledger/walk-steps.ts';
import type { CampaignOptions, CampaignResult } from '../campaign.ts';
import { startTemporaryLedger, type TemporaryLedger } from '../temporary-ledger.ts';

const SIZE = { full: 100_000, short: 600 };
/**
 * Concurrent accounts: enough to meet in the sweeper, few enough for two cores.
 */
const WALKERS = 4;
/** Sessions per account: from a few to slightly more than usage shows. */
const SESSIONS_PER_ACCOUNT = { min: 4, max: 25 };
const STEPS_PER_ACCOUNT = 100;

interface Progress {
  sessions: number;
  steps: number;
  divergences: number;
  violations: number;
}

/**
 * Runs random lifecycles, each step in the database and in a simple model, and audits the ledger
 * regularly.
 */
export const about = 'random session lifecycles against a model: every step must match';

export async function run({ short, args, log }: CampaignOptions): Promise<CampaignResult> {
  const wanted = short ? SIZE.short : SIZE.full;
  const seed = Number(args[0] ?? Math.floor(Math.random() * 2 ** 31));
  log(`seed ${seed}`);
  const ledger = await startTemporaryLedger();
  const progress: Progress = { sessions: 0, steps: 0, divergences: 0, violations: 0 };
  let logged = 0;
  const enough = () => progress.sessions >= wanted || progress.divergences > 0;
  try {
    const walkers = Array.from({ length: WALKERS }, async (_, walker) => {
      for (let round = 0; !enough(); round += 1) {
        await walkAccount({ ledger, seed: seed + walker + round * WALKERS, progress, log });
        if (progress.sessions - logged >= wanted / 10) {
          logged = progress.sessions;
          const found = await findViolations(ledger.owner);
          progress.violations += found.length;
          for (const line of found) log(line);
          log(`${progress.sessions} of ${wanted} lifecycles, ${progress.steps} steps`);
        }
      }
    });
    await Promise.all(walkers);
    progress.violations += (await findViolations(ledger.owner)).length;
  } finally {
    await ledger.stop();
  }
  const { sessions, steps, divergences, violations } = progress;
  return {
    passed: sessions >= wanted && divergences === 0 && violations === 0,
    figures: { lifecycles: sessions, steps, divergences, violations },
  };
}

async function walkAccount(input: {
  ledger: TemporaryLedger;
  seed: number;
  progress: Progress;
  log: (line: string) => void;
}): Promise<void> {
  const { ledger, seed, progress } = input;
  const walk = await startWalk(ledger);
  const { min, max } = SESSIONS_PER_ACCOUNT;
  const sessions = min + (seed % (max - min + 1));
  const steps = fc.sample(stepArbitrary, { seed, numRuns: STEPS_PER_ACCOUNT });
  try {
    await walk.step({ do: 'grant', ms: 300_000 });
    for (const step of steps) {
      if (walk.sessions() >= sessions) break;
      await walk.act(step);
      // Random steps alone finish few sessions, so two of three steps are the expected ones.
      await walk.act(walk.likely());
      await walk.step(walk.likely());
      progress.steps += 3;
    }
  } catch (error) {
    if (!(error instanceof Divergence)) throw error;
    progress.divergences += 1;
    input.log(`seed ${seed}: ${error.message}`);
  }
  progress.sessions += walk.sessions();
}
