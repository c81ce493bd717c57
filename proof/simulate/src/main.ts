import { parseArgs } from 'node:util';
import { huntAll, SEEDS_MAX } from './mutants/hunt-all.ts';
import { findMutant } from './mutants/all-mutants.ts';
import { openMutantLedger } from './mutants/mutant-ledger.ts';
import { plant } from './mutants/plant.ts';
import type { Figures } from './run/campaign.ts';
import { describeCoverage, readCoverage } from './run/coverage.ts';
import { runJobs } from './run/jobs.ts';
import { isStormName } from './storm/storm-names.ts';
import { readCell } from './storm/settings.ts';
import { installGlobals } from './virtual/globals.ts';
import type { OpenLedger } from './world/world.ts';

const USAGE = `npm run simulate -- --seeds N [--from S] [--fault NAME ...] [--ledger model|pglite] [--jobs N] [--trace]
npm run simulate -- --plan FILE [--plan FILE ...]
npm run simulate -- --equivalence --seeds N [--from S]   compares the ledger model with PostgreSQL
npm run simulate -- --mutants [--only NAME ...] [--seeds N]  hunts the planted bugs
npm run simulate -- --mutant NAME --from S               runs a seed with a planted bug
npm run simulate -- --storm NAME [--streams N] [--nodes N] [--apis N] [--use SHARE] [--commits N] [--seed S] [--rules]
    runs a whole cell; --rules judges what must never happen, and not the goals
npm run simulate -- --coverage FOLDER                    lists the lines that runs with NODE_V8_COVERAGE=FOLDER did not reach`;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string' },
    from: { type: 'string', default: '1' },
    fault: { type: 'string', multiple: true, default: [] },
    ledger: { type: 'string', default: 'model' },
    plan: { type: 'string', multiple: true },
    jobs: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    equivalence: { type: 'boolean', default: false },
    mutants: { type: 'boolean', default: false },
    only: { type: 'string', multiple: true, default: [] },
    mutant: { type: 'string' },
    coverage: { type: 'string' },
    storm: { type: 'string' },
    streams: { type: 'string' },
    nodes: { type: 'string' },
    apis: { type: 'string' },
    use: { type: 'string' },
    commits: { type: 'string' },
    rules: { type: 'boolean', default: false },
    seed: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

process.exit(await main());

async function main(): Promise<number> {
  const { help, ledger, mutants, equivalence, only } = values;
  const from = Number(values.from);
  const seeds = Number(values.seeds ?? (mutants ? SEEDS_MAX : 1));
  const isValid = Number.isSafeInteger(from) && Number.isSafeInteger(seeds) && seeds > 0;
  if (help || !isValid || (ledger !== 'model' && ledger !== 'pglite')) {
    console.log(USAGE);
    return help ? 0 : 2;
  }
  if (values.coverage !== undefined) {
    const lines = describeCoverage(await readCoverage(values.coverage));
    for (const line of lines) console.log(line);
    return 0;
  }
  if (values.storm !== undefined) return storm(values.storm);
  if (values.jobs !== '1') {
    const options = values.fault.flatMap((name) => ['--fault', name]);
    return report(await runJobs({ from, seeds, jobs: Number(values.jobs), options }));
  }
  if (mutants) return huntMutants({ only, from, seeds });
  if (equivalence) return compareWithPostgres({ from, seeds });
  return simulate({ from, seeds, ledger });
}

async function simulate(input: {
  readonly from: number;
  readonly seeds: number;
  readonly ledger: 'model' | 'pglite';
}): Promise<number> {
  const { plan, trace, mutant, fault } = values;
  const planted = mutant === undefined ? null : findMutant(mutant);
  const openLedger =
    planted === null || planted.sql === null
      ? await chooseLedger(input.ledger)
      : await openMutantLedger(planted.sql, false);
  const checkPlanted = planted === null ? null : plant(planted);
  installGlobals({ showsStacks: trace });
  const { FAULT_NAMES, isFaultName } = await import('./world/faults.ts');
  const { replayPlan, runCampaign } = await import('./run/campaign.ts');
  checkPlanted?.();
  const named = fault.filter(isFaultName);
  if (named.length < fault.length) {
    console.log(`Faults: ${FAULT_NAMES.join(', ')}`);
    return 2;
  }
  if (plan !== undefined) {
    let violations = 0;
    for (const file of plan) violations += (await replayPlan(file, openLedger)).violations.length;
    return report({ seeds: plan.length, violations, differing: 0 });
  }
  const faults = named.length > 0 ? named : (planted?.faults ?? []);
  const { from, seeds } = input;
  return report(await runCampaign({ from, seeds, faults, openLedger, shows: trace }));
}

async function storm(name: string): Promise<number> {
  const cell = readCell(values);
  installGlobals();
  const { STORMS } = await import('./storm/storms.ts');
  if (cell === null || !isStormName(name)) {
    for (const [known, { what }] of Object.entries(STORMS)) console.log(`${known}: ${what}`);
    return 2;
  }
  const { runStorm } = await import('./storm/run-storm.ts');
  const { brokenRules, missedGoals } = await import('./storm/figures.ts');
  const figures = await runStorm(name, cell, '.cache/simulate');
  const missed = values.rules ? brokenRules(figures) : missedGoals(name, figures);
  for (const goal of missed) console.log(`missed: ${goal}`);
  console.log(JSON.stringify({ name: 'simulate', passed: missed.length === 0, figures }));
  return missed.length === 0 ? 0 : 1;
}

/** PGlite is opened before the clocks of this process become virtual. */
async function chooseLedger(which: 'model' | 'pglite'): Promise<OpenLedger> {
  if (which === 'pglite') {
    const { PgliteLedger } = await import('./ledger/pglite-ledger.ts');
    const opened = await PgliteLedger.open();
    return (nowMs) => opened.begin(nowMs);
  }
  const { ModelLedger } = await import('./ledger/model-ledger.ts');
  return (nowMs) => new ModelLedger({ nowMs });
}

async function compareWithPostgres(range: { from: number; seeds: number }): Promise<number> {
  const { openClockedPostgres } = await import('./ledger/clocked-postgres.ts');
  const postgres = await openClockedPostgres(process.env);
  installGlobals();
  const { planFor } = await import('./world/plan.ts');
  const { compareLedgers } = await import('./run/compare-ledgers.ts');
  let calls = 0;
  let differences = 0;
  for (let seed = range.from; seed < range.from + range.seeds; seed += 1) {
    const compared = await compareLedgers(postgres.db, planFor(seed));
    calls += compared.calls;
    if (compared.difference === null) continue;
    differences += 1;
    const { what, expected, actual } = compared.difference;
    console.log(`seed ${seed}: ${what}\n  model:      ${expected}\n  PostgreSQL: ${actual}`);
  }
  await postgres.close();
  const figures = { seeds: range.seeds, calls, differences };
  console.log(JSON.stringify({ name: 'simulate', passed: differences === 0, figures }));
  return differences === 0 ? 0 : 1;
}

async function huntMutants(input: {
  readonly only: readonly string[];
  readonly from: number;
  readonly seeds: number;
}): Promise<number> {
  const missed = await huntAll({ ...input, print: (line) => console.log(line) });
  const figures = { missed };
  console.log(JSON.stringify({ name: 'simulate', passed: missed.length === 0, figures }));
  return missed.length === 0 ? 0 : 1;
}

function report(figures: Pick<Figures, 'seeds' | 'violations' | 'differing'>): number {
  const passed = figures.violations === 0 && figures.differing === 0;
  console.log(JSON.stringify({ name: 'simulate', passed, figures }));
  return passed ? 0 : 1;
}
